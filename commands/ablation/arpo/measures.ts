import { join } from 'node:path';
import { EVALUATION_BLOBS } from '../job.ts';
import type { Measure } from '../measure.ts';
import { type ArpoArm, COMPARED } from './arms.ts';
import { CASE_FILE } from './details.ts';
import { ANY_FOLDER, type ArpoSettings, CUT, folderOf, STEPS } from './pieces.ts';
import { CASE, type TaskFiles, taskFilesIn } from './tasks.ts';

/** OSWorld's two protocols: with FAIL in place of the last action at the limit, and without. */
export const PROTOCOLS = {
  standard: [...STEPS, '--protocol', 'verified', '--fail-at-limit'],
  hard: [...STEPS, '--protocol', 'hard'],
} as const;

/** What an arm is evaluated on, each told in the same words wherever the folder lies. */
export function measuresOf(settings: ArpoSettings, arm: ArpoArm, seed: number, tasks: TaskFiles): Measure[] {
  const measures = (dir: string) => {
    const files = taskFilesIn(dir, tasks);
    if (!COMPARED.includes(arm)) return selectionMeasures(settings, files);
    return comparedMeasures(settings, files, folderOf({ ...settings, dir }, arm, seed));
  };
  const anywhere = measures(ANY_FOLDER);
  return measures(settings.dir).map((measure, index) => ({ ...measure, text: JSON.stringify(anywhere[index]) }));
}

/** What an arm of the comparison is evaluated on: three sets under both protocols, and the case. */
function comparedMeasures(settings: ArpoSettings, tasks: TaskFiles, dir: string): Measure[] {
  const { repeats, sample, caseRepeats } = settings;
  const sets = ['in-domain', 'out-of-domain', 'heldout'] as const;
  const trajectories = ['--trajectories', join(dir, CASE_FILE), '--blobs', join(dir, EVALUATION_BLOBS)];
  return [
    ...sets.flatMap((set) =>
      Object.entries(PROTOCOLS).map(
        ([protocol, more]): Measure => ({
          name: `${set}-${protocol}`,
          cut: CUT,
          tasks: tasks[set],
          repeats,
          sample,
          more,
        }),
      ),
    ),
    {
      name: 'case',
      cut: CUT,
      tasks: { path: tasks['in-domain'].path, count: 1 },
      repeats: caseRepeats,
      more: [...PROTOCOLS.hard, '--id', CASE, ...trajectories],
    },
  ];
}

/** Of the arms of the task selection: all training tasks, and the held-out ones. */
function selectionMeasures({ repeats, sample }: ArpoSettings, tasks: TaskFiles): Measure[] {
  return (['all', 'heldout'] as const).map((set) => {
    return { name: set, cut: CUT, tasks: tasks[set], repeats, sample, more: PROTOCOLS.hard };
  });
}
