import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { CACHE_OPTIONS } from '../asset_options.ts';
import { FROM_OPTION, TASK_FILTERS } from '../task_filter.ts';
import { BRIDGE_OPTION, PROTOCOL_OPTION } from './options.ts';
import { whoeverReads } from './verdict_stands.ts';

/** `dart-eval check`: what tasks need. */
export const check: CommandSpec = {
  name: 'check',
  summary: 'Say what each task needs, and whether it can be scored',
  description:
    'Runs nothing. Prints one check record a task: the set-up steps, getters and metrics that it uses, the files that it downloads, the accounts and the proxy that it asks for, and a verdict: native (everything is implemented here), bridge (needs an installed OSWorld or an account), unsupported, with the reasons. The summary counts them.',
  options: [
    FROM_OPTION,
    ...TASK_FILTERS,
    {
      name: 'fail-under',
      type: 'integer',
      value: 'TASKS',
      min: 0,
      describe: 'Exit 1 when fewer tasks than this are native',
      group: 'Verdict',
    },
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  examples: [
    {
      command: 'dart-eval check --from OSWorld/evaluation_examples/examples --table',
      describe: 'how much of OSWorld can be scored',
    },
    {
      command: `dart-eval check --from tasks | jq -r 'select(.verdict == "unsupported") | .task_id'`,
      describe: 'what cannot be scored',
    },
  ],
  exitCodes: { 1: 'fewer native tasks than --fail-under' },
  run: async (context) => whoeverReads(context, (await import('./check.ts')).run),
};

/** `dart-eval fetch-assets`: fills the asset cache. */
export const fetchAssets: CommandSpec = {
  name: 'fetch-assets',
  summary: 'Download the files that tasks need into the asset cache',
  description:
    'Fetches every file that set-up steps and evaluators of the tasks download, each URL once, and prints an asset record with its size and sha256. Files that are there are looked through; one whose sha256 is another than when it came is taken anew. A download that was broken off is gone on from, and half a file is never taken for one.',
  options: [
    FROM_OPTION,
    ...TASK_FILTERS,
    ...CACHE_OPTIONS,
    {
      name: 'checksums',
      type: 'string',
      value: 'FILE',
      describe: 'asset records of an earlier run: the files must have the sha256 that they had then',
      group: 'Assets',
    },
    {
      name: 'parallel',
      type: 'integer',
      value: 'N',
      default: 4,
      min: 1,
      max: 64,
      describe: 'Downloads at a time',
      group: 'Assets',
    },
    ...OUTPUT_OPTIONS.filter(({ name }) => name === 'output'),
    ...COMMON_OPTIONS,
    DRY_RUN_OPTION,
  ],
  examples: [
    {
      command: 'dart-eval fetch-assets --from OSWorld/evaluation_examples/test_small.json -o assets.ndjson',
      describe: 'before an evaluation of the small list',
    },
  ],
  exitCodes: { 2: 'a file could not be fetched; the others were' },
  run: async (context) => whoeverReads(context, (await import('./fetch_assets.ts')).run),
};

/** `dart-eval metric`: one metric, by hand. */
export const metric: CommandSpec = {
  name: 'metric',
  summary: 'Score one metric on files that lie here',
  description:
    'For people who debug a task: takes the name of an OSWorld metric, what a getter would have brought from the desktop, and what is expected, and prints the score. A value is the name of a file; or json:TEXT, json:@FILE, text:TEXT, text:@FILE for what is no file, or none for nothing. --rules is what the task has under expected.rules.',
  options: [
    {
      name: 'rules',
      type: 'string',
      value: 'JSON',
      describe: 'What is expected, in place of EXPECTED',
      group: 'What',
    },
    { name: 'options', type: 'string', value: 'JSON', describe: 'The evaluator’s options', group: 'What' },
    PROTOCOL_OPTION,
    BRIDGE_OPTION,
    {
      name: 'fail-under',
      type: 'number',
      value: 'SCORE',
      min: 0,
      max: 1,
      describe: 'Exit 1 when the score is below this',
      group: 'Verdict',
    },
    ...OUTPUT_OPTIONS.filter(({ name }) => name === 'output'),
    ...COMMON_OPTIONS,
  ],
  positionals: [
    { name: 'name', describe: 'Name of the metric, as in evaluator.func', required: true },
    { name: 'result', describe: 'What the desktop has', required: true },
    { name: 'expected', describe: 'What it should have' },
  ],
  examples: [
    {
      command: 'dart-eval metric compare_text_file mine.txt gold.txt',
      describe: 'two files',
    },
    {
      command: `dart-eval metric check_include_exclude text:@out.txt --rules '{"include": ["done"]}'`,
      describe: 'the output of a command',
    },
  ],
  exitCodes: { 1: 'the score is below --fail-under' },
  run: async (context) => whoeverReads(context, (await import('./metric.ts')).run),
};
