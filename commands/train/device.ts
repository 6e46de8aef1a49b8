import type { CommandContext } from '../../lib/cli/spec.ts';
import { type Device, resolveDevice, setThreads } from '../../native/index.ts';
import { numberOf, textOf } from './settings.ts';

export interface Machine {
  /** Where the kernels run. */
  device: Device;
  /** Threads of the network, and of each kernel call on the CPU. */
  threads: number;
  /** One line about both, for people. */
  text: string;
}

/**
 * What `--device` and `--threads` ask for, set for this process.
 * @throws DartError for a device that is not there; with `--device cpu` nothing of CUDA is touched.
 */
export function chooseMachine({ options }: CommandContext): Machine {
  const threads = numberOf(options, 'threads') ?? 1;
  const { device, text } = resolveDevice(textOf(options, 'device') ?? 'auto');
  setThreads(threads);
  const count = threads === 1 ? '1 thread' : `${threads} threads`;
  return { device, threads, text: `${text}; network on the CPU with ${count}` };
}
