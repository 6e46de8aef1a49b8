import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { BLOBS, CURATE_OPTIONS, POOL_CAPACITY, STORE } from './options.ts';
import { importSpec } from './spec_import.ts';
import { explainSpec, statsSpec } from './spec_insight.ts';
import { demosSpec, pairsSpec, selectTasksSpec } from './spec_offline.ts';
import { poolExport, poolPrune } from './spec_pool.ts';

const FILES = { name: 'files', describe: 'NDJSON files, - for standard input (the default)', multiple: true };
const REQUIRED_STORE = {
  ...STORE,
  describe: 'Store, sqlite:PATH or mysql://USER@HOST/DATABASE; without it the default store',
};

const poolAdd: CommandSpec = {
  name: 'add',
  summary: 'Put successes into the experience pool',
  description:
    'Stores the successful trajectories of the input (reward above 0.5, with steps) as experience: demonstrations by the script policy, or runs from elsewhere. They do not count in success rates. The same episode is kept once, so the same command again changes nothing.',
  options: [BLOBS, REQUIRED_STORE, POOL_CAPACITY, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  positionals: [FILES],
  examples: [
    {
      command:
        'dart-rollout --tasks DIR --env embedded:2 --policy script -n 1 | dart-curate pool add --store sqlite:dart.db',
      describe: 'one demonstration of each task',
    },
  ],
  exitCodes: { 1: 'no success in the input' },
  run: async (context) => (await import('./pool.ts')).add(context),
};

const poolList: CommandSpec = {
  name: 'list',
  summary: 'List the successes in the pool, by task',
  options: [REQUIRED_STORE, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS],
  examples: [{ command: 'dart-curate pool list --store sqlite:dart.db --table', describe: 'a table on stderr' }],
  exitCodes: { 1: 'the pool is empty' },
  run: async (context) => (await import('./pool.ts')).list(context),
};

const pool: CommandSpec = {
  name: 'pool',
  summary: 'Fill, list, prune and export the experience pool',
  options: [...COMMON_OPTIONS],
  subcommands: [poolAdd, poolList, poolPrune, poolExport],
};

/** `dart-curate`: from trajectories to samples. */
export const spec: CommandSpec = {
  name: 'dart-curate',
  summary: 'Choose what is worth learning from',
  description: [
    'Reads trajectory records and prints sample records: groups whose rollouts have all ended, whose rewards differ, and which are recent enough, with an advantage for each step. A group in which everybody failed gets a stored success of the same task. Whatever is left out is said in an event record with the reason, and counted in the summary.',
    'With --store, trajectories and decisions are kept there: running twice decides once, and with --follow a group that was handed on but never learned from comes again. Records of other types pass through.',
  ].join('\n\n'),
  options: [...CURATE_OPTIONS, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  positionals: [FILES],
  subcommands: [importSpec, selectTasksSpec, demosSpec, pairsSpec, pool, statsSpec, explainSpec],
  examples: [
    { command: 'dart-curate rollouts.ndjson -o samples.ndjson', describe: 'from a file to a file' },
    {
      command: 'dart-rollout … --follow | dart-curate --follow --store sqlite:dart.db | dart-train …',
      describe: 'in the loop',
    },
    { command: 'dart-curate --preset grpo --advantage dr_grpo rollouts.ndjson', describe: 'without the pool' },
  ],
  exitCodes: {
    1: 'no group was worth learning from, or nothing is new (--cursor)',
    75: 'another run holds the lock (--cursor, --lock)',
  },
  effective: async (options) => (await import('./settings.ts')).effectiveSettings(options),
  run: async (context) => (await import('./run.ts')).run(context),
};
