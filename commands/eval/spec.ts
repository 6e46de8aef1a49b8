import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { ASSET_OPTIONS } from '../asset_options.ts';
import { SERVER_OPTIONS } from '../server_options.ts';
import { TASK_FILTERS } from '../task_filter.ts';
import { GATE_OPTION, RUN_OPTIONS, VERDICT_OPTIONS } from './options.ts';
import { check, fetchAssets, metric } from './task_commands.ts';
import { whoeverReads } from './verdict_stands.ts';

const REFUSED = 'a gate that does not let it pass (--fail-under, --baseline), or nothing could be scored';

/** `dart-eval score`: what trajectories made elsewhere are worth. */
const score: CommandSpec = {
  name: 'score',
  summary: 'Score trajectories that were made before',
  description:
    'Reads trajectory records and prints one result record a task and a summary, with the same gates and reports as dart-eval. Rollouts that ended in an error have no score: they are counted, and a 0 only in the numbers that say so.',
  options: [
    {
      name: 'blobs',
      type: 'string',
      value: 'DIR',
      describe: 'Folder of the screenshots, for an HTML report',
      group: 'Output',
    },
    ...VERDICT_OPTIONS,
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [{ name: 'files', describe: 'NDJSON files with trajectories, - for standard input', multiple: true }],
  examples: [
    {
      command:
        'dart-rollout --tasks fixtures/tasks/embedded --env embedded:4 --policy script -n 1 | dart-eval score - --table',
      describe: 'what the experts score',
    },
  ],
  exitCodes: { 1: REFUSED },
  run: async (context) => whoeverReads(context, (await import('./score.ts')).run),
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
    {
      name: 'max-regression',
      type: 'number',
      value: 'LOSS',
      min: 0,
      max: 1,
      describe: 'Exit 1 when the mean has fallen by more than this and a gain is unlikely (p below 0.05)',
      group: 'Verdict',
    },
    GATE_OPTION,
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  positionals: [
    { name: 'before', describe: 'Results of the first policy', required: true },
    { name: 'after', describe: 'Results of the second policy', required: true },
  ],
  examples: [{ command: 'dart-eval compare base.ndjson trained.ndjson --table', describe: 'the gain of training' }],
  exitCodes: { 1: 'gain below --fail-under, a regression, or no task in common' },
  run: async (context) => whoeverReads(context, (await import('./compare.ts')).run),
};

/** One version is measured: the servers are given no other. */
const SERVERS = SERVER_OPTIONS.filter(({ name }) => name !== 'versions' && name !== 'update');

export const spec: CommandSpec = {
  name: 'dart-eval',
  summary: 'Measure a policy on OSWorld-style tasks',
  description:
    'Runs each task --repeats times with a fixed temperature on desktops whose seeds training never uses, and prints one result record a task and a summary: success rate with its 95% interval (a bootstrap over tasks), the same with 0 for what could not be scored, and pass@k. --table adds a table by domain on stderr. docs/eval.md goes from nothing to a gate in CI.',
  options: [
    {
      name: 'tasks',
      type: 'string',
      value: 'FILE|DIR|-',
      describe: 'Task records or a folder of OSWorld task files; - reads standard input',
      group: 'What',
    },
    ...TASK_FILTERS,
    ...RUN_OPTIONS,
    ...ASSET_OPTIONS,
    ...VERDICT_OPTIONS,
    ...SERVERS,
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
    DRY_RUN_OPTION,
  ],
  subcommands: [score, compare, check, fetchAssets, metric],
  examples: [
    {
      command: 'dart-eval --tasks fixtures/tasks/embedded --policy onnx:fixtures/policies/base.onnx --table',
      describe: 'the base policy on the training tasks',
    },
    {
      command: 'dart-eval --tasks fixtures/tasks/heldout --policy onnx:runs/demo/policy --fail-under 0.5',
      describe: 'a CI gate: exit 1 below 50% success',
    },
    {
      command:
        'dart-eval --tasks fixtures/tasks/heldout --policy onnx:runs/demo/policy --baseline main.ndjson --report junit=eval.xml,html=eval.html',
      describe: 'exit 1 on a regression against results of before, with a file for CI and a page to look at',
    },
  ],
  exitCodes: { 1: REFUSED, 75: 'another run writes to the file of --resume' },
  run: async (context) => whoeverReads(context, (await import('./run.ts')).run),
};
