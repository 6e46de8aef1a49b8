import { DESKTOP_PROBES } from './desktop_probes.ts';
import { ask, askAny, type Probe } from './probe.ts';

async function addon(): Promise<string> {
  const native = await import('../../native/index.ts');
  native.pollHangup(1);
  return 'built and loaded';
}

/** Everything that a part of the toolkit can use. */
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
  ...DESKTOP_PROBES,
  {
    name: 'mysql',
    needed_for: 'looking by hand into a store that several machines share',
    hint: 'apt install mariadb-client',
    look: () => askAny(['mysql', 'mariadb'], ['--version']),
  },
];
