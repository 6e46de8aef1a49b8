import { COMMON_OPTIONS, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';
import { DYNAMICS_OPTIONS } from './dynamics.ts';
import { STORE } from './options.ts';

const REQUIRED_STORE = {
  ...STORE,
  describe: 'Store, sqlite:PATH or mysql://USER@HOST/DATABASE; without it the default store',
};
const RUN: OptionSpec = { name: 'run-id', type: 'string', value: 'ID', describe: 'Only rollouts of this run' };

/** `dart-curate stats` */
export const statsSpec: CommandSpec = {
  name: 'stats',
  summary: 'Success of each task from the newest rollouts in the store',
  description:
    'Prints one result record a task (score is the mean reward of its newest scored rollouts) with the number and the length of its next rollouts that follow from it, its rollouts by outcome, and a summary.',
  options: [REQUIRED_STORE, RUN, ...DYNAMICS_OPTIONS, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS],
  examples: [{ command: 'dart-curate stats --store sqlite:dart.db --table', describe: 'a table on stderr' }],
  exitCodes: { 1: 'the store knows no task' },
  run: async (context) => (await import('./stats.ts')).run(context),
};

/** `dart-curate explain` */
export const explainSpec: CommandSpec = {
  name: 'explain',
  summary: 'Why a task does or does not train',
  description:
    'Prints what the store knows of a task as one event record, and on stderr as one screen: its success, its rollouts by outcome, the number and length of the next ones, its groups, why the last of them were left out, what the pool has, and what would have to happen for it to train.',
  options: [
    { name: 'task', type: 'string', value: 'ID', required: true, describe: 'Id of the task to explain' },
    REQUIRED_STORE,
    RUN,
    ...DYNAMICS_OPTIONS,
    ...OUTPUT_OPTIONS.filter((option) => option.name !== 'table'),
    ...COMMON_OPTIONS,
  ],
  examples: [{ command: 'dart-curate explain --task chrome-bookmark-tea', describe: 'from the default store' }],
  exitCodes: { 1: 'as things are, the task does not train' },
  run: async (context) => (await import('./explain.ts')).run(context),
};
