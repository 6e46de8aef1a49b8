import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import { METRICS_OPTIONS } from '../../lib/cli/metrics_options.ts';
import { PROGRESS_OPTION } from '../../lib/cli/progress.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { ROLLOUT_OPTIONS } from './options.ts';
import { serve } from './serve_spec.ts';
import { simulateSpec } from './simulate_spec.ts';
import { show } from './spec_show.ts';

/** Here `-n` is the number of rollouts, as everywhere in this method. */
const common = COMMON_OPTIONS.map((option) => (option.alias === 'n' ? { ...option, alias: undefined } : option));

export const spec: CommandSpec = {
  name: 'dart-rollout',
  summary: 'Let a policy act in desktops and record what happens',
  description: [
    'Writes one trajectory record for each rollout, and a summary at the end. Whenever a desktop is free the next rollout starts; nothing waits for a batch, a task or another worker.',
    "With --follow it samples until told to stop: tasks that succeed often get fewer rollouts, and episodes may be a little longer than the task's longest success. Without, each task gets -n rollouts once. Several processes with one --store and --run-id share the work.",
    'Task records (--tasks -) and env records (--env -) are read from standard input; records of other types are passed on.',
  ].join('\n\n'),
  options: [...ROLLOUT_OPTIONS, ...METRICS_OPTIONS, ...OUTPUT_OPTIONS, PROGRESS_OPTION, ...common, DRY_RUN_OPTION],
  examples: [
    {
      command: 'dart-rollout --tasks fixtures/tasks/embedded --env embedded:4 --policy script -n 1 | dart-eval score -',
      describe: 'what the experts of the tasks score',
    },
    {
      command:
        'dart-rollout --tasks tasks/ --env embedded:16 --policy onnx:runs/policy --follow --store sqlite:runs/dart.db',
      describe: 'sample for training, following the versions that the trainer publishes',
    },
  ],
  subcommands: [simulateSpec, serve, show],
  exitCodes: { 2: 'bad input, no desktop or policy left, or some rollouts ended in an error' },
  run: async (context) => (await import('./run.ts')).run(context),
};
