import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRecords } from '../../../lib/stream/reader.ts';
import type { RunRecord } from '../job.ts';
import { type RolloutLine, type Stretch, stretchesOf } from '../rollouts.ts';
import { type Corrections, readCorrections } from './correction.ts';

/** What the report needs of a run beside its measures; it goes with the run where that is published. */
export interface ArpoDetails {
  /** Of the rollouts of an online arm; empty for the others. */
  stretches: Stretch[];
  /** Of the self-correction case; null where it was not evaluated. */
  corrections: Corrections | null;
  /** Of the policy; null where nothing was trained, not there in runs of before. */
  updates?: number | null;
}

export type ArpoRun = RunRecord & { details: ArpoDetails };

/** The rollouts of the self-correction case in the folder of a run. */
export const CASE_FILE = 'case.ndjson';

/** Points of the curves over the rollouts of a training. */
const STRETCHES = 8;

/**
 * Reads them from the folder of a run.
 * @param trajectories the rollouts that an arm learns from
 */
export async function readDetails(dir: string, trajectories: number): Promise<ArpoDetails> {
  const rollouts = join(dir, 'rollouts.ndjson');
  const lines = existsSync(rollouts) ? readFileSync(rollouts, 'utf8').split('\n').filter(Boolean) : [];
  const all = lines.map((line) => JSON.parse(line) as RolloutLine);
  return {
    stretches: stretchesOf(all, trajectories, STRETCHES),
    corrections: await readCorrections(join(dir, CASE_FILE)),
    updates: await updatesIn(dir),
  };
}

/** Updates in the trainer's records in the folder of a run; null where there are none. */
export async function updatesIn(dir: string): Promise<number | null> {
  const path = join(dir, 'train.ndjson');
  if (!existsSync(path)) return null;
  let updates = 0;
  for await (const { record } of readRecords(createReadStream(path), { name: path }))
    if (record.type === 'metric' && record.name === 'train/loss') updates += 1;
  return updates;
}
