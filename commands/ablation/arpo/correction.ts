import { createReadStream, existsSync } from 'node:fs';
import { readRecords } from '../../../lib/stream/reader.ts';
import type { Trajectory } from '../../../lib/stream/records.ts';

/** How often a policy goes wrong and comes back, over rollouts of one task. */
export interface Corrections {
  rollouts: number;
  successes: number;
  /** Rollouts that came back to a screen that they had left. */
  returned: number;
  /** Of these: successes. */
  corrected: number;
}

/**
 * True where an episode came back to a screen that it had left: what it did between was taken back, by undoing, closing
 * or choosing again. Screens are compared by their bytes.
 */
export function cameBack({ steps }: Pick<Trajectory, 'steps'>): boolean {
  const last = new Map<string, number>();
  return steps.some(({ observation }, index) => {
    const { sha256 } = observation.screenshot;
    const before = last.get(sha256);
    last.set(sha256, index);
    return before !== undefined && before < index - 1;
  });
}

/** Counts them over trajectories; those that ended in an error are left out. */
export function correctionsOf(trajectories: readonly Pick<Trajectory, 'steps' | 'reward'>[]): Corrections {
  const scored = trajectories.filter(({ reward }) => reward !== null);
  const back = scored.filter(cameBack);
  const solved = (list: typeof scored) => list.filter(({ reward }) => reward! > 0.5).length;
  return { rollouts: scored.length, successes: solved(scored), returned: back.length, corrected: solved(back) };
}

/** Of the trajectories in a file; null where there is none. */
export async function readCorrections(path: string): Promise<Corrections | null> {
  if (!existsSync(path)) return null;
  const all: Trajectory[] = [];
  for await (const { record } of readRecords(createReadStream(path), { name: path }))
    if (record.type === 'trajectory') all.push(record as Trajectory);
  return correctionsOf(all);
}

/** Sums over seeds. */
export function sumOf(parts: readonly Corrections[]): Corrections {
  const sum = (name: keyof Corrections) => parts.reduce((total, part) => total + part[name], 0);
  const [rollouts, successes] = [sum('rollouts'), sum('successes')];
  return { rollouts, successes, returned: sum('returned'), corrected: sum('corrected') };
}
