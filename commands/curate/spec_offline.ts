import { COMMON_OPTIONS, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';
import { BLOBS, STORE } from './options.ts';

const FILES = { name: 'files', describe: 'NDJSON files, - for standard input (the default)', multiple: true };
const THRESHOLD: OptionSpec = {
  name: 'threshold',
  type: 'number',
  value: 'R',
  min: 0,
  max: 1,
  default: 0.5,
  describe: 'A reward above this is a success',
};

/** `dart-curate demos`. */
export const demosSpec: CommandSpec = {
  name: 'demos',
  summary: 'Make demonstrations of the successes (reject sampling)',
  description:
    'Prints one demonstration record for each step of each trajectory whose reward is above the threshold, for dart-train --objective sft. The same episode is taken once; steps whose reply could not be read are left out.',
  options: [
    THRESHOLD,
    { name: 'per-task', type: 'integer', value: 'N', min: 1, describe: 'At most N episodes of a task (no limit)' },
    {
      name: 'rank',
      type: 'string',
      choices: ['newest', 'shortest'],
      default: 'newest',
      describe: 'Which episodes of a task, where --per-task leaves some out',
    },
    BLOBS,
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [FILES],
  examples: [
    {
      command: 'dart-curate demos rollouts.ndjson | dart-train --objective sft --policy onnx:base.onnx --publish sft',
      describe: 'imitate the successes',
    },
    { command: 'dart-curate demos --per-task 4 --rank shortest rollouts.ndjson', describe: 'a balanced set' },
  ],
  exitCodes: { 1: 'no success in the input' },
  run: async (context) => (await import('./demos.ts')).run(context),
};

/** `dart-curate pairs`. */
export const pairsSpec: CommandSpec = {
  name: 'pairs',
  summary: 'Make preferences of successes and failures (DPO, KTO)',
  description:
    'For dpo, pairs of a success and a failure of the same task, drawn at random by --seed. For kto, each trajectory with a label: desirable where its reward is above the threshold. Trajectories that ended in an error are in neither.',
  options: [
    {
      name: 'for',
      type: 'string',
      value: 'OBJECTIVE',
      choices: ['dpo', 'kto'],
      required: true,
      describe: 'The objective that the preferences are for',
    },
    { name: 'pairs', type: 'integer', value: 'N', min: 1, default: 1, describe: 'dpo: pairs of a task' },
    THRESHOLD,
    BLOBS,
    ...OUTPUT_OPTIONS.filter((option) => option.name !== 'table'),
    ...COMMON_OPTIONS,
  ],
  positionals: [FILES],
  examples: [
    { command: 'dart-curate pairs --for dpo --pairs 4 --seed 1 rollouts.ndjson -o pairs.ndjson', describe: 'for DPO' },
    { command: 'dart-curate pairs --for kto rollouts.ndjson -o labels.ndjson', describe: 'for KTO' },
  ],
  exitCodes: { 1: 'no pair, or no labelled trajectory' },
  run: async (context) => (await import('./pairs.ts')).run(context),
};

/** `dart-curate select-tasks`. */
export const selectTasksSpec: CommandSpec = {
  name: 'select-tasks',
  summary: 'Keep the tasks that a baseline solves now and then',
  description: [
    'ARPO’s choice of tasks: those with at least --min-success successes among the first --rollouts scored rollouts of a baseline. The rollouts come from files, from standard input, or with --store from a store.',
    'Prints the task records of the kept ones, where they are known: from --tasks, from the input, or from the store; the others are task_selected events. Each dropped one is a task_dropped event with the reason. A table on stderr shows all.',
  ].join('\n\n'),
  options: [
    { name: 'min-success', type: 'integer', value: 'N', min: 0, default: 1, describe: 'Successes that a task needs' },
    { name: 'rollouts', type: 'integer', value: 'N', min: 1, default: 16, describe: 'Rollouts of a task that count' },
    { name: 'exclude-infeasible', type: 'boolean', describe: 'Drop tasks that only FAIL solves' },
    { name: 'tasks', type: 'string', value: 'FILE|DIR', describe: 'Tasks to choose from, as OSWorld JSON or NDJSON' },
    {
      name: 'list',
      type: 'string',
      value: 'FILE',
      describe: 'Also write the kept ids as a meta list, {domain: [ids]}',
    },
    { ...STORE, describe: 'Take the rollouts from this store' },
    {
      name: 'run-id',
      type: 'string',
      value: 'ID',
      describe: 'With --store: only rollouts of this run; imports and demonstrations count only so',
    },
    ...OUTPUT_OPTIONS.filter((option) => option.name !== 'table'),
    ...COMMON_OPTIONS,
  ],
  positionals: [FILES],
  examples: [
    {
      command: 'dart-curate select-tasks --tasks DIR baseline.ndjson | dart-rollout --tasks - --follow …',
      describe: 'train on what can be solved',
    },
  ],
  exitCodes: { 1: 'no task is left' },
  run: async (context) => (await import('./select_tasks.ts')).run(context),
};
