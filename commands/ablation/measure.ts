import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { evaluationLine } from './evaluations.ts';

/** `--tasks`, and about how many tasks that is. */
export interface TaskSet {
  path: string;
  count: number;
}

/** What a policy is evaluated on. */
export interface Measure {
  /** Name of the figure: `train`, `heldout`. */
  name: string;
  /** Cut whose version is evaluated. */
  cut: string;
  tasks: TaskSet;
  repeats: number;
  sample?: number | null;
  /** Options in place of `--max-steps 30`. */
  more?: readonly string[];
  /** What it is, wherever its folder lies; without this, what stands above with the folder replaced. */
  text?: string;
}

/** Where the evaluations of one policy lie. */
export interface Place {
  dir: string;
  /** Whose they are, where several policies are evaluated there: the beginning of its sha256. */
  policy?: string;
}

/** What is measured, wherever the folder lies: as `run.json` has it. */
export function measuredText(measure: Measure, dir: string): string {
  return measure.text ?? JSON.stringify(measure).replaceAll(dir, 'RUN');
}

/** Says in a file's name what was measured: other tasks, repeats, samples or options make another name. */
export function evaluationFile(measure: Measure, { dir, policy }: Place): string {
  const { repeats, sample } = measure;
  const mark = createHash('sha256').update(measuredText(measure, dir)).digest('hex').slice(0, 8);
  return join(dir, `${stemOf(measure, policy)}${repeats}x${sample ?? 'all'}-${mark}.ndjson`);
}

/** The line that makes this file of a policy. */
export function measureLine(measure: Measure, place: Place, policy: string, seed: number): string {
  const { tasks, repeats, sample, more } = measure;
  const what = { policy, tasks: tasks.path, repeats, seed, sample: sample ?? null, ...(more && { more }) };
  return evaluationLine({ ...what, output: evaluationFile(measure, place) });
}

/**
 * Removes what was measured under the same name in another way: rollouts that an evaluation leaves beside its results
 * (of the self-correction case) are those of the last one.
 */
export function removeOthers(measure: Measure, place: Place): void {
  const stem = stemOf(measure, place.policy);
  const own = evaluationFile(measure, place);
  for (const name of readdirSync(place.dir)) {
    const path = join(place.dir, name);
    if (name.startsWith(stem) && path !== own) rmSync(path);
  }
}

/** The dot ends it: no stem is the beginning of another. */
function stemOf({ cut, name }: Measure, policy: string | undefined): string {
  return `eval-${cut}-${name}${policy === undefined ? '' : `-${policy}`}.`;
}
