import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';
import { SERVER_OPTIONS } from '../server_options.ts';

const THRESHOLDS: readonly OptionSpec[] = [
  {
    name: 'fail-under',
    type: 'number',
    value: 'SUCCESS',
    min: 0,
    max: 1,
    describe: 'Exit 1 when the mean success is below this (0..1)',
    group: 'Verdict',
  },
];

/** `dart-eval score`: what trajectories made elsewhere are worth. */
const score: CommandSpec = {
  name: 'score',
  summary: 'Score trajectories that were made before',
  description:
    'Reads trajectory records and prints one result record a task and a summary with the 95% interval of the mean success (Wilson). Rollouts that ended in an error have no score: they are counted, never taken as 0.',
  options: [...THRESHOLDS, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS],
  positionals: [{ name: 'files', describe: 'NDJSON files with trajectories, - for standard input', multiple: true }],
  examples: [
    {
      command:
        'dart-rollout --tasks fixtures/tasks/embedded --env embedded:4 --policy script -n 1 | dart-eval score - --table',
      describe: 'what the experts score',
    },
  ],
  exitCodes: { 1: 'mean success below --fail-under, or nothing could be scored' },
  run: async (context) => (await import('./score.ts')).run(context),
};

/** `dart-eval compare`: two evaluations, paired by task. */
const compare: CommandSpec = {
  name: 'compare',
  summary: 'Compare two evaluations task by task',
  description:
    'Takes two files of result records (what dart-eval prints) and tells the mean gain with its 95% interval: a bootstrap over tasks of the differences paired by task.',
  options: [
    {
      name: 'fail-under',
      type: 'number',
      value: 'GAIN',
      min: -1,
      max: 1,
      describe: 'Exit 1 when the lower end of the interval of the gain is below this',
      group: 'Verdict',
    },
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [
    { name: 'before', describe: 'Results of the first policy', required: true },
    { name: 'after', describe: 'Results of the second policy', required: true },
  ],
  examples: [{ command: 'dart-eval compare base.ndjson trained.ndjson --table', describe: 'the gain of training' }],
  exitCodes: { 1: 'gain below --fail-under, or no task in common' },
  run: async (context) => (await import('./compare.ts')).run(context),
};

/** One version is measured: the servers are given no other. */
const SERVERS = SERVER_OPTIONS.filter(({ name }) => name !== 'versions' && name !== 'update');

export const spec: CommandSpec = {
  name: 'dart-eval',
  summary: 'Measure a policy on OSWorld-style tasks',
  description:
    'Runs each task --repeats times with a fixed temperature on desktops whose seeds training never uses, and prints one result record a task and a summary: mean success with its 95% interval. --table adds a table by domain on stderr.',
  options: [
    {
      name: 'tasks',
      type: 'string',
      value: 'FILE|DIR|-',
      describe: 'Task records or a folder of OSWorld task files; - reads standard input',
      group: 'What',
    },
    {
      name: 'policy',
      type: 'string',
      value: 'SPEC',
      describe: 'Policy to measure, as for dart-rollout',
      group: 'What',
    },
    {
      name: 'env',
      type: 'string',
      value: 'SPEC',
      default: 'embedded:8',
      describe: 'Desktops to run on, as for dart-rollout',
      group: 'What',
    },
    { name: 'repeats', type: 'integer', value: 'N', default: 8, min: 1, describe: 'Rollouts a task', group: 'How' },
    {
      name: 'temperature',
      type: 'number',
      value: 'T',
      default: 1,
      min: 0,
      describe: 'Sampling temperature; 0 takes the likeliest token',
      group: 'How',
    },
    {
      name: 'max-steps',
      type: 'integer',
      value: 'N',
      default: 15,
      min: 1,
      describe: 'Steps an episode may take',
      group: 'How',
    },
    {
      name: 'workers',
      type: 'integer',
      value: 'N',
      default: 1,
      min: 1,
      describe: 'Policy workers that answer the desktops',
      group: 'How',
    },
    {
      name: 'trajectories',
      type: 'string',
      value: 'FILE',
      describe: 'Also write the trajectories to this file',
      group: 'Output',
    },
    { name: 'blobs', type: 'string', value: 'DIR', describe: 'Folder of the screenshots', group: 'Output' },
    ...THRESHOLDS,
    ...SERVERS,
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
    DRY_RUN_OPTION,
  ],
  subcommands: [score, compare],
  examples: [
    {
      command: 'dart-eval --tasks fixtures/tasks/embedded --policy onnx:fixtures/policies/base.onnx --table',
      describe: 'the base policy on the training tasks',
    },
    {
      command: 'dart-eval --tasks fixtures/tasks/heldout --policy onnx:runs/demo/policy --fail-under 0.5',
      describe: 'a CI gate: exit 1 below 50% success',
    },
  ],
  exitCodes: { 1: 'mean success below --fail-under, or nothing could be scored' },
  run: async (context) => (await import('./run.ts')).run(context),
};
