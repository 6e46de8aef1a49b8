import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DartError, messageOf } from '../../lib/errors.ts';

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
export async function ask(program: string, args: string[], pattern = /\S.*/): Promise<string | null> {
  const { stdout, stderr } = await execute(program, args, { timeout: LOOK_MS });
  return pattern.exec(`${stdout}\n${stderr}`)?.[0]?.trim() ?? null;
}

/** The first of the programs that is there. */
export async function askAny(programs: string[], args: string[], pattern?: RegExp): Promise<string | null> {
  for (const program of programs) {
    const answer = await ask(program, args, pattern).catch(() => null);
    if (answer !== null) return `${program}: ${answer}`;
  }
  return null;
}

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
    const better = error instanceof DartError ? error.hint : undefined;
    return { name, state: 'missing', detail: reasonOf(error), needed_for, hint: better ?? hint, required };
  }
}

function reasonOf(error: unknown): string {
  if ((error as { code?: unknown }).code === 'ENOENT') return 'not found';
  const text = error instanceof DartError ? error.message : messageOf(error);
  return text.split('\n').filter(Boolean).at(-1) ?? 'does not work';
}
