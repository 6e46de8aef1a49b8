import type { OptionSpec, OptionValue } from '../../lib/cli/spec.ts';
import { rolloutNumber, stepLimit } from '../../lib/rollout/dynamic.ts';
import type { TaskStatistics } from '../../lib/store/index.ts';

/** What the statistics of a task make of its next group, where dart-rollout plans with these settings. */
export interface Dynamics {
  /** Dynamic rollout number. */
  rollouts_next: number;
  /** Dynamic trajectory length: most steps of an episode. */
  step_cap: number;
}

/** The settings of dart-rollout that statistics are read with; same names, same defaults. */
export const DYNAMICS_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'success-window',
    type: 'integer',
    value: 'N',
    min: 1,
    default: 16,
    describe: 'Newest scored rollouts that are looked at',
  },
  {
    name: 'rollouts',
    alias: 'n',
    type: 'integer',
    value: 'N',
    min: 1,
    default: 8,
    describe: 'Rollouts of a group in full, as dart-rollout is given',
  },
  {
    name: 'min-steps',
    type: 'integer',
    value: 'N',
    min: 1,
    default: 5,
    describe: 'Least cap, as dart-rollout is given',
  },
  {
    name: 'max-steps',
    type: 'integer',
    value: 'N',
    min: 1,
    default: 30,
    describe: 'Most steps, as dart-rollout is given',
  },
  {
    name: 'length-slack',
    type: 'integer',
    value: 'N',
    min: 0,
    default: 2,
    describe: 'Steps beyond the longest success, as dart-rollout is given',
  },
];

/** Number and length of a task's next rollouts. */
export function dynamicsOf(
  statistics: Pick<TaskStatistics, 'success_rate' | 'longest_success'>,
  options: Readonly<Record<string, OptionValue>>,
): Dynamics {
  const limits = {
    minSteps: Number(options['min-steps']),
    maxSteps: Number(options['max-steps']),
    slack: Number(options['length-slack']),
  };
  return {
    rollouts_next: rolloutNumber(statistics.success_rate, Number(options.rollouts)),
    step_cap: stepLimit(statistics.longest_success, limits),
  };
}
