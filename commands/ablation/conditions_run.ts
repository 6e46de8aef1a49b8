import { createReadStream, existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { type Conditions, ConditionsCount } from './conditions.ts';
import { evaluationLine, MAX_STEPS, SUITES } from './evaluations.ts';
import { placeOf } from './ladder_runs.ts';
import { evaluationFile, type Measure } from './measure.ts';
import type { Base } from './plan.ts';
import { notMade, type Settings } from './settings.ts';
import { runLines } from './shell.ts';

/** The rollouts that the conditions are counted in, and how they are made. */
export function conditionsFiles(settings: Settings, base: Base) {
  const { dir, conditionRepeats: repeats, sample } = settings;
  const tasks = { path: SUITES.train, count: sample ?? 60 };
  const measure: Measure = { cut: 'base', name: 'conditions', tasks, repeats, sample };
  const output = evaluationFile(measure, placeOf(settings, base));
  const rollouts = join(dir, basename(output).replace('eval-', 'rollouts-'));
  const blobs = join(dir, 'conditions-blobs');
  const more = ['--max-steps', String(MAX_STEPS), '--trajectories', rollouts, '--blobs', blobs];
  const line = evaluationLine({ policy: base.path, tasks: SUITES.train, repeats, seed: 1, output, sample, more });
  return { output, rollouts, blobs, line };
}

/**
 * What the suite offers to each idea, for this base policy.
 * @param make false: only from rollouts that are there
 * @throws DartError where there are none and none may be made
 */
export async function conditionsOf(
  settings: Settings,
  base: Base,
  { make, say, stop }: { make: boolean; say: (line: string) => void; stop: AbortSignal },
): Promise<Conditions> {
  const { output, rollouts, blobs, line } = conditionsFiles(settings, base);
  if (!existsSync(output)) {
    if (!make) throw notMade('the conditions have not been measured with these settings', output);
    say(`the base policy on the training tasks, ${settings.conditionRepeats} rollouts each …`);
    await runLines([line], 'conditions', stop);
    rmSync(blobs, { recursive: true, force: true });
  }
  const count = new ConditionsCount();
  for await (const { record } of readRecords(createReadStream(rollouts), { name: rollouts }))
    if (record.type === 'trajectory') count.add(record as Trajectory);
  return count.conditions();
}
