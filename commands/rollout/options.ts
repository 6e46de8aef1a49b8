import type { OptionSpec } from '../../lib/cli/spec.ts';
import { ASSET_OPTIONS } from '../asset_options.ts';
import { SERVER_OPTIONS } from '../server_options.ts';
import { TEMPERATURE_OPTION } from '../temperature_option.ts';
import { SYNC_OPTIONS, WORKER_OPTIONS } from './worker_options.ts';

const WHAT: readonly OptionSpec[] = [
  {
    name: 'tasks',
    type: 'string',
    value: 'FILE|DIR|-',
    default: '-',
    describe: 'Tasks: OSWorld task files (a file, or a folder at any depth), task records, or - for standard input',
  },
  {
    name: 'env',
    type: 'string',
    value: 'SPEC|-',
    describe:
      'Desktops: KIND:N[,option=value…] of embedded, xvfb, docker, kubernetes, with the options of dart-env up (docs/desktops.md); attach:URL[,URL…]; or - for those of the env records on standard input (default: embedded:8, or the env records that come with the tasks)',
  },
  {
    name: 'policy',
    type: 'string',
    required: true,
    value: 'SPEC',
    describe:
      'Policy: onnx:FILE, onnx:DIR (a published directory, whose newer versions are followed), script[:noise=P], random, replay:FILE, fixed:finished, fixed:fail, fixed:wait, openai:URL[,URL…][;model=NAME] (vLLM, SGLang and other servers of chat completions), sglang:URL[,URL…], workload:FILE[,scale=N] (costs what a workload says, thinks nothing)',
  },
  { name: 'domain', type: 'string', value: 'NAME', multiple: true, describe: 'Only tasks of this domain' },
  { name: 'task', type: 'string', value: 'ID', multiple: true, describe: 'Only this task' },
  { name: 'sample', type: 'integer', value: 'N', min: 1, describe: 'Only so many tasks, drawn by --seed' },
].map((option) => ({ ...option, group: 'What' }) as OptionSpec);

const AMOUNT: readonly OptionSpec[] = [
  {
    name: 'rollouts',
    alias: 'n',
    type: 'integer',
    value: 'N',
    default: 8,
    min: 1,
    max: 4096,
    describe: 'Rollouts of a task planned together',
  },
  {
    name: 'epochs',
    type: 'integer',
    value: 'N',
    min: 1,
    describe: 'Passes over the tasks, each with -n rollouts of every task on desktops of another seed (default: 1)',
  },
  { name: 'follow', type: 'boolean', describe: 'Keep sampling, task after task, until told to stop' },
  { name: 'max-steps', type: 'integer', value: 'N', default: 30, min: 1, describe: 'Most steps of an episode' },
  {
    name: 'min-steps',
    type: 'integer',
    value: 'N',
    default: 5,
    min: 1,
    describe: 'Least cap that dynamic length may set',
  },
  {
    name: 'length-slack',
    type: 'integer',
    value: 'N',
    default: 2,
    min: 0,
    describe: "Steps beyond a task's longest success",
  },
  {
    name: 'success-window',
    type: 'integer',
    value: 'N',
    default: 16,
    min: 1,
    describe: "Newest scored rollouts that a task's success rate is taken over",
  },
  {
    name: 'dynamic-rollouts',
    type: 'boolean',
    default: true,
    describe: 'With --follow: fewer rollouts of tasks that succeed often',
  },
  {
    name: 'dynamic-length',
    type: 'boolean',
    default: true,
    describe: "With --follow: cap episodes a little above the task's longest success",
  },
  {
    name: 'window',
    type: 'integer',
    value: 'N',
    min: 1,
    max: 4096,
    describe: 'Groups whose rollouts are interleaved (default: two rounds of all desktops)',
  },
  {
    name: 'weight',
    type: 'string',
    value: 'NAME=W',
    multiple: true,
    describe:
      'With --follow: W times as many groups of this domain, or of the task with this id (a task record may have a weight field too; they multiply; 0: none)',
  },
  {
    name: 'eval-seeds',
    type: 'boolean',
    describe: 'Desktop seeds above 1,000,000, which training never uses, another for each rollout',
  },
].map((option) => ({ ...option, group: 'How much' }) as OptionSpec);

const SAMPLING: readonly OptionSpec[] = [
  TEMPERATURE_OPTION,
  {
    name: 'top-p',
    type: 'number',
    value: 'P',
    default: 1,
    min: 0,
    max: 1,
    describe: 'Sample among the likeliest tokens of this mass',
  },
  { name: 'top-k', type: 'integer', value: 'K', min: 1, describe: 'Sample among the K likeliest tokens' },
  { name: 'max-tokens', type: 'integer', value: 'N', min: 1, describe: 'Most tokens of a reply' },
  {
    name: 'on-parse-error',
    type: 'string',
    value: 'WHAT',
    choices: ['observe', 'fail'],
    default: 'observe',
    describe: 'A reply that cannot be read: do nothing and show the screen again, or end the episode with FAIL',
  },
  {
    name: 'fail-at-limit',
    type: 'boolean',
    describe: 'Count the last action at the step limit as FAIL, as DART does (passes infeasible tasks)',
  },
].map((option) => ({ ...option, group: 'Policy' }) as OptionSpec);

const SYSTEM: readonly OptionSpec[] = [
  ...WORKER_OPTIONS,
  {
    name: 'mode',
    type: 'string',
    value: 'MODE',
    choices: ['async', 'batch'],
    default: 'async',
    describe:
      'Start the next rollout whenever a desktop is free, or plan batches and wait for all of each (the coupled baseline)',
  },
  { name: 'batch-groups', type: 'integer', value: 'N', default: 8, min: 1, max: 4096, describe: 'Groups of one batch' },
  {
    name: 'version-wait',
    type: 'number',
    value: 'S',
    default: 60,
    min: 0,
    describe: 'How long a batch waits for the version learned from the last one',
  },
  ...SYNC_OPTIONS,
  {
    name: 'store',
    type: 'string',
    value: 'URL',
    describe: 'Share work, statistics and versions through this store: sqlite:PATH or mysql://USER@HOST/DATABASE',
  },
  {
    name: 'blobs',
    type: 'string',
    value: 'DIR',
    describe: 'Folder of the screenshots (default: $XDG_STATE_HOME/dart/blobs)',
  },
  {
    name: 'run-id',
    type: 'string',
    value: 'ID',
    describe: 'Name of the run; the same name and store continue where it ended (default: a new one)',
  },
  {
    name: 'grace',
    type: 'number',
    value: 'S',
    default: 2,
    min: 0,
    describe: 'When interrupted, how long rollouts under way may take to end',
  },
  {
    name: 'usage',
    type: 'number',
    value: 'S',
    min: 0.05,
    describe:
      'Every S seconds write metric records of how much of desktops and workers is used, and an event with the sums',
  },
  {
    name: 'fail-fast',
    type: 'boolean',
    describe: 'End the run at the first rollout that ends in an error, instead of recording and counting it',
  },
].map((option) => ({ ...option, group: 'System' }) as OptionSpec);

export const ROLLOUT_OPTIONS: readonly OptionSpec[] = [
  ...WHAT,
  ...ASSET_OPTIONS,
  ...AMOUNT,
  ...SAMPLING,
  ...SYSTEM,
  ...SERVER_OPTIONS,
];
