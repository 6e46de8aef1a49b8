import { COMMON_OPTIONS, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';

/** As many desktops as dart-env starts, and no more workers or GPUs than that. */
const MOST = 10_000;

const OPTIONS: readonly OptionSpec[] = [
  {
    name: 'workload',
    type: 'string',
    value: 'FILE',
    describe: 'Workload with its latencies (default: fixtures/workloads/dart.json, the papers’)',
    group: 'Workload',
  },
  {
    name: 'from',
    type: 'string',
    value: 'FILE|-',
    describe: 'Take steps and latencies from the trajectories in FILE, and only the rest from the workload',
    group: 'Workload',
  },
  ...(
    [
      {
        name: 'desktops',
        type: 'integer',
        value: 'N',
        min: 1,
        max: MOST,
        describe: 'Desktops, instead of the workload’s',
      },
      {
        name: 'workers',
        type: 'integer',
        value: 'N',
        min: 1,
        max: MOST,
        describe: 'Policy workers, instead of the workload’s',
      },
      {
        name: 'gpus',
        type: 'integer',
        value: 'N',
        min: 1,
        max: MOST,
        describe: 'As many workers as fit on so many GPUs, by the workload’s GPUs a worker',
      },
      {
        name: 'mode',
        type: 'string',
        value: 'MODE',
        choices: ['async', 'batch', 'both'],
        default: 'async',
        describe: 'Next rollout whenever a desktop is free, batches, or one after the other with ratios',
      },
      {
        name: 'sync',
        type: 'string',
        value: 'HOW',
        choices: ['one', 'global'],
        describe: 'Workers change version one at a time or all together (async: one, batch: global)',
      },
      { name: 'hours', type: 'number', value: 'H', default: 24, min: 0.01, max: 8760, describe: 'Virtual hours' },
      { name: 'updates', type: 'integer', value: 'N', min: 1, describe: 'End when so many versions are loaded' },
      {
        name: 'sweep',
        type: 'boolean',
        describe: 'Find the best number of desktops per worker: the least that keep a worker at 95% of its most',
      },
    ] satisfies OptionSpec[]
  ).map((option): OptionSpec => ({ ...option, group: 'System' })),
];

/** `dart-rollout simulate` */
export const simulateSpec: CommandSpec = {
  name: 'simulate',
  summary: 'Work out how busy desktops and workers would be',
  description: [
    'Runs the scheduler of dart-rollout on a virtual clock, with desktops, workers and a trainer that are nothing but their latencies, and writes metric records: utilisation of desktops and workers, actions and trajectories a minute, updates an hour, and how stale is what is learned from.',
    'Latencies are constant, uniform, lognormal or measured (--from, from trajectories). The same seed gives the same numbers.',
  ].join('\n\n'),
  options: [...OPTIONS, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS],
  examples: [
    { command: 'dart-rollout simulate --mode both --table', describe: 'the papers’ workload, coupled and decoupled' },
    {
      command: 'dart-rollout simulate --from rollouts.ndjson --gpus 8 --sweep --table',
      describe: 'how many desktops eight GPUs can serve, from what was measured',
    },
  ],
  run: async (context) => (await import('./simulate.ts')).run(context),
};
