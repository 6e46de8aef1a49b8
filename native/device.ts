import { DartError } from '../lib/errors.ts';
import { native } from './addon.ts';
import { refuse } from './check.ts';

/**
 * Where a kernel runs; `cuda` is `cuda:0`. Arrays are host arrays either way: on a GPU each call copies them there and
 * back.
 */
export type Device = 'cpu' | 'cuda' | `cuda:${number}`;

export interface DeviceStatus<D extends Device = 'cpu' | 'cuda'> {
  /** What was found or chosen. */
  device: D;
  /** One line for people: what it is, and why it is not a GPU. */
  text: string;
}

/** Number of a CUDA device by its name; null for the CPU; undefined for a name that is neither. */
function deviceIndex(device: string): number | null | undefined {
  if (device === 'cpu') return null;
  const number = /^cuda:(\d{1,4})$/.exec(device)?.[1];
  if (device === 'cuda') return 0;
  return number === undefined ? undefined : Number(number);
}

/** How C++ is told of a device; nothing of CUDA is touched for the CPU. Throws a TypeError for an unknown name. */
export function placeOf(device: Device = 'cpu') {
  const index = typeof device === 'string' ? deviceIndex(device) : undefined;
  if (index === undefined) refuse('cpu, cuda or cuda:N', 'device', device);
  if (index === null) return { backend: 'cpu' };
  return { backend: 'cuda', deviceIndex: index, cudaLibrary: native().cudaLibrary };
}

/** Opens the CUDA library on the first call and says what the kernels can run on. Never throws for want of a GPU. */
export function deviceStatus(): DeviceStatus {
  const { addon, cudaLibrary } = native();
  const cuda = addon.cudaStatus({ cudaLibrary, deviceIndex: 0 });
  if (cuda.available) return { device: 'cuda', text: `kernels on ${cuda.text}` };
  return { device: 'cpu', text: `kernels on the ${addon.cpuStatus()}; no GPU: ${cuda.text}` };
}

/**
 * The device that a user's choice stands for, and one line about it: `auto` is the first GPU, or the CPU with the reason
 * why; `cpu` touches nothing of CUDA.
 * @param choice `auto`, `cpu`, `cuda` or `cuda:N`.
 * @throws DartError for another word, and for a GPU that is not there.
 */
export function resolveDevice(choice: string): DeviceStatus<'cpu' | `cuda:${number}`> {
  if (choice === 'auto') {
    const { device, text } = deviceStatus();
    return { device: device === 'cuda' ? 'cuda:0' : 'cpu', text };
  }
  const index = deviceIndex(choice);
  if (index === undefined) {
    throw new DartError(`there is no device '${choice}'`, { where: 'device', hint: 'auto, cpu, cuda or cuda:N' });
  }
  const { addon, cudaLibrary } = native();
  if (index === null) return { device: 'cpu', text: `kernels on the ${addon.cpuStatus()}` };
  const { available, text } = addon.cudaStatus({ cudaLibrary, deviceIndex: index });
  if (available) return { device: `cuda:${index}`, text: `kernels on ${text}` };
  throw new DartError(`no GPU for the kernels: ${text}`, { where: `device ${choice}`, hint: '--device cpu' });
}
