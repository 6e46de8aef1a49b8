import { native } from './addon.ts';

/** Where a kernel runs. Arrays are host arrays either way: with `cuda` each call copies them to the GPU and back. */
export type Device = 'cpu' | 'cuda';

export interface DeviceStatus {
  /** The best device that this machine has. */
  device: Device;
  /** One line for people: what it is, and why it is not a GPU. */
  text: string;
}

/** Opens the CUDA library on the first call and says what the kernels can run on. Never throws for want of a GPU. */
export function deviceStatus(): DeviceStatus {
  const { addon, cudaLibrary } = native();
  const cuda = addon.cudaStatus(cudaLibrary);
  if (cuda.available) return { device: 'cuda', text: `kernels on ${cuda.text}` };
  return { device: 'cpu', text: `kernels on the ${addon.cpuStatus()}; no GPU: ${cuda.text}` };
}
