import { parseWorkload, type Workload } from '../../../lib/rollout/simulate/workload.ts';

/** Desktops of ARPO's figure. */
export const DESKTOPS = [8, 16, 32, 64, 128, 256] as const;

/** What ARPO (arXiv 2505.16282) says of its ends: minutes a batch, hours an epoch of 128 tasks × 8 rollouts. */
export const PAPER: Readonly<Record<number, { batchMinutes: number; epochHours: number }>> = {
  8: { batchMinutes: 3, epochHours: 6 },
  256: { batchMinutes: 19, epochHours: 1.2 },
};

/** Rollouts of an epoch: 128 tasks, 8 each. */
export const EPOCH_ROLLOUTS = 1024;
/** Rollouts of a group. */
export const GROUP = 8;

/** Seconds of a rollout's parts, and how much more or less each may take. */
const RESET = 45;
const ACTION = 2;
const INFERENCE = 5.2;
const EVALUATION = 20;
const STEPS = 15;
const SPREAD = 0.2;

/**
 * How many rollouts too many parts of rollouts count for a desktop: half the squared coefficient of variation of a rollout's
 * time, here of one whose requests nobody slows down.
 */
export function lastRolloutBias(): number {
  const mean = RESET + STEPS * (ACTION + INFERENCE) + EVALUATION;
  const squares = RESET ** 2 + STEPS * (ACTION ** 2 + INFERENCE ** 2) + EVALUATION ** 2;
  // A uniform part has the variance (SPREAD × mean)² / 3.
  return (squares * SPREAD ** 2) / 3 / mean ** 2 / 2;
}

const constant = (value: number, source: string) => ({ distribution: { shape: 'constant', value }, source });
const around = (value: number, source: string) => ({
  distribution: { shape: 'uniform', min: value * (1 - SPREAD), max: value * (1 + SPREAD) },
  source: `${source}; assumed: a fifth more or less`,
});

/**
 * ARPO's rollouts with so many desktops, a batch of one rollout each. Two numbers were chosen, so that the ends of the
 * coupled figure are the paper's: how long a request takes alone (3 minutes with 8 desktops), and how much longer among
 * 256 (19 minutes). What lies between the ends, and everything decoupled, follows. Updates take no time: the figure is of
 * rollouts.
 */
export function arpoWorkload(desktops: number): Workload {
  const none = constant(0.001, 'left out: the figure is of rollouts');
  return parseWorkload(
    {
      name: 'arpo',
      about: 'Rollouts of ARPO (arXiv 2505.16282), a desktop for each rollout of a batch; all times are seconds.',
      desktops: { value: desktops, source: 'ARPO: 8 to 256 environments' },
      workers: { value: 1, source: 'assumed: all GPUs as one server, whose requests slow each other down' },
      gpus_per_worker: { value: 16, source: 'ARPO, issue 5: 16 GPUs' },
      tasks: { value: 128, source: 'ARPO: 128 tasks' },
      rollouts: { value: GROUP, source: 'ARPO: n = 8' },
      batch_groups: { value: desktops / GROUP, source: 'ARPO: the number of environments equals batch × n' },
      max_steps: { value: STEPS, source: 'ARPO: 15 steps' },
      steps: constant(STEPS, 'assumed: every rollout of a batch is waited for, and some take all 15 steps'),
      latency: {
        reset: around(RESET, 'assumed: a virtual machine goes back to a snapshot'),
        step: around(ACTION, 'OSWorld: 2 s after each action'),
        inference: around(INFERENCE, 'chosen: 3 minutes a batch with 8 desktops'),
        evaluation: around(EVALUATION, 'OSWorld: 20 s before evaluation'),
        update: none,
        load: none,
      },
      slowdown: {
        table: [
          [1, 1],
          [16, 1],
          [256, 13.8],
        ],
        source: 'chosen: 19 minutes a batch with 256 desktops; 16 GPUs take 16 requests at no cost',
      },
    },
    'the workload of ARPO',
  );
}
