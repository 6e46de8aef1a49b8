import { deviceStatus } from '../device.ts';
import { instructions, setInstructions, setThreads } from '../settings.ts';
import type { GoldenCase } from './cases.ts';
import { type Difference, worst } from './compare.ts';

/** One way to compute the same numbers. */
export interface Implementation {
  name: string;
  device: 'cpu' | 'cuda';
  /** Sets the process up for it. */
  use(): void;
}

function onCpu(name: string, set: 'scalar' | 'auto', threads: number): Implementation {
  const use = () => {
    setInstructions(set);
    setThreads(threads);
  };
  return { name, device: 'cpu', use };
}

/** The scalar reference, and the widest vectors that this machine has with one and with two threads. */
export function cpuImplementations(): Implementation[] {
  setInstructions('auto');
  const widest = instructions();
  const vectors =
    widest === 'scalar' ? [] : [onCpu(`${widest}, 1 thread`, 'auto', 1), onCpu(`${widest}, 2 threads`, 'auto', 2)];
  return [onCpu('scalar', 'scalar', 1), ...vectors];
}

/** What the CUDA library of this process runs on: a GPU or its emulation; none where it has no device. */
export function cudaImplementations(): Implementation[] {
  const { device, text } = deviceStatus();
  if (device !== 'cuda') return [];
  return [{ name: text.includes('emulated GPU') ? 'CUDA, emulated' : 'CUDA', device, use: () => undefined }];
}

/** The worst output of one case on one implementation. */
export interface Row extends Difference {
  implementation: string;
  file: string;
  name: string;
  output: string;
}

/** Runs every case on every implementation, one after the other; leaves the process at its defaults. */
export function runCases(cases: readonly GoldenCase[], implementations: readonly Implementation[]): Row[] {
  try {
    return implementations.flatMap(({ name: implementation, device, use }) => {
      use();
      return cases.map(({ file, name, run }) => {
        const outputs = Object.entries(run(device));
        const most = worst(outputs.map(([, difference]) => difference));
        const output = outputs.find(([, difference]) => difference.share === most.share)?.[0] ?? '';
        return { implementation, file, name, output, ...most };
      });
    });
  } finally {
    setInstructions('auto');
    setThreads(0);
  }
}
