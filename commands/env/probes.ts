import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { messageOf } from '../../lib/errors.ts';

export interface Probe {
  name: string;
  /** What of the toolkit needs it. */
  needed_for: string;
  /** Every command needs it. */
  required?: boolean;
  /** How to get it. */
  hint: string;
  /** What is there, on one line. Rejects or hands back null where it is not. */
  look: () => Promise<string | null>;
}

const execute = promisify(execFile);
const LOOK_MS = 5000;

/** First line that matches of what a program prints about itself. */
async function ask(program: string, args: string[], pattern = /\S.*/): Promise<string | null> {
  const { stdout, stderr } = await execute(program, args, { timeout: LOOK_MS });
  return pattern.exec(`${stdout}\n${stderr}`)?.[0]?.trim() ?? null;
}

/** The first of the programs that is there. */
async function askAny(programs: string[], args: string[], pattern?: RegExp): Promise<string | null> {
  for (const program of programs) {
    const answer = await ask(program, args, pattern).catch(() => null);
    if (answer !== null) return `${program}: ${answer}`;
  }
  return null;
}

async function addon(): Promise<string> {
  const native = await import('../../native/index.ts');
  native.pollHangup(1);
  return 'built and loaded';
}

async function kvm(): Promise<string | null> {
  if (!existsSync('/dev/kvm')) return null;
  accessSync('/dev/kvm', constants.R_OK | constants.W_OK);
  return '/dev/kvm can be opened';
}

/** Said of what is looked for, though nothing of this version makes use of it. */
const LATER = 'no driver of this version uses it yet';

export const PROBES: readonly Probe[] = [
  {
    name: 'node',
    needed_for: 'everything',
    required: true,
    hint: 'Node 20.19 or newer from nodejs.org or your distribution',
    look: async () => process.version,
  },
  {
    name: 'addon',
    needed_for: 'everything',
    required: true,
    hint: 'make build (needs g++, make and python3)',
    look: addon,
  },
  {
    name: 'nvcc',
    needed_for: 'building the CUDA kernels',
    hint: 'the CUDA toolkit from developer.nvidia.com, then make build',
    look: () => ask('nvcc', ['--version'], /release [\d.]+/),
  },
  {
    name: 'gpu',
    needed_for: 'the CUDA kernels, policies of billions of weights',
    hint: 'a machine with an NVIDIA GPU and its driver',
    look: () => ask('nvidia-smi', ['--query-gpu=name,memory.total', '--format=csv,noheader']),
  },
  {
    name: 'docker',
    needed_for: `desktops in containers (${LATER})`,
    hint: 'Docker Engine (docs.docker.com/engine/install) and membership of the group docker',
    look: () => ask('docker', ['version', '--format', 'server {{.Server.Version}}'], /server \S+/),
  },
  {
    name: 'kvm',
    needed_for: `desktops in virtual machines at full speed (${LATER})`,
    hint: 'virtualisation switched on in the firmware, and membership of the group kvm',
    look: kvm,
  },
  {
    name: 'mysql',
    needed_for: `looking into a store that several machines share (${LATER})`,
    hint: 'apt install mariadb-client',
    look: () => askAny(['mysql', 'mariadb'], ['--version']),
  },
  {
    name: 'chromium',
    needed_for: `real browser tasks under Xvfb (${LATER})`,
    hint: 'apt install chromium',
    look: () => askAny(['chromium', 'chromium-browser', 'google-chrome'], ['--version']),
  },
  {
    name: 'xvfb',
    needed_for: `real desktops on this machine without a screen (${LATER})`,
    hint: 'apt install xvfb xdotool wmctrl',
    look: async () =>
      ((await askAny(['Xvfb'], ['-version'], /X\.?Org.*|Xvfb.*/i)) ?? existsSync('/usr/bin/Xvfb')) ? 'found' : null,
  },
];

export interface Finding {
  name: string;
  state: 'ok' | 'missing';
  detail: string;
  needed_for: string;
  hint: string;
  required: boolean;
}

/** Looks whether one thing is there; a look that fails is a finding, never an error. */
export async function examine(probe: Probe): Promise<Finding> {
  const { name, needed_for, hint, required = false } = probe;
  try {
    const detail = await probe.look();
    if (detail !== null) return { name, state: 'ok', detail, needed_for, hint, required };
    return { name, state: 'missing', detail: 'not found', needed_for, hint, required };
  } catch (error) {
    return { name, state: 'missing', detail: reasonOf(error), needed_for, hint, required };
  }
}

function reasonOf(error: unknown): string {
  if ((error as { code?: unknown }).code === 'ENOENT') return 'not found';
  return messageOf(error).split('\n').filter(Boolean).at(-1) ?? 'does not work';
}
