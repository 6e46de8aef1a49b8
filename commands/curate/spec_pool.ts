import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';
import { STORE } from './options.ts';

const REQUIRED_STORE = {
  ...STORE,
  describe: 'Store, sqlite:PATH or mysql://USER@HOST/DATABASE; without it the default store',
};
const TASK: OptionSpec = { name: 'task', type: 'string', value: 'ID', describe: 'Only successes of this task' };

/** `dart-curate pool prune`. */
export const poolPrune: CommandSpec = {
  name: 'prune',
  summary: 'Take successes out of the experience pool',
  description:
    'Takes out what is older than --older-than and what is more than the newest --keep of its task; with --task alone, all of that task. Each one is said in an event record. The stored rollouts stay, since groups may have been made with them.',
  options: [
    REQUIRED_STORE,
    TASK,
    {
      name: 'older-than',
      type: 'string',
      value: 'TIME',
      describe: 'What entered the pool longer ago: 30d, 12h, 90m, 2w',
    },
    { name: 'keep', type: 'integer', value: 'N', min: 0, describe: 'All but the newest N of a task' },
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
    DRY_RUN_OPTION,
  ],
  examples: [
    {
      command: 'dart-curate pool prune --older-than 30d --keep 4 --dry-run --table',
      describe: 'what would go, and why',
    },
  ],
  exitCodes: { 1: 'nothing was to go' },
  run: async (context) => (await import('./pool_prune.ts')).prune(context),
};

/** `dart-curate pool export`. */
export const poolExport: CommandSpec = {
  name: 'export',
  summary: 'Print the successes in the pool as trajectory records',
  description:
    'In the order in which they entered the pool, so that dart-curate pool add fills an empty pool with the same. The screenshots stay where they are, in the blob store.',
  options: [REQUIRED_STORE, TASK, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS],
  examples: [
    {
      command: 'dart-curate pool export --store sqlite:a.db | dart-curate pool add --store sqlite:b.db',
      describe: 'from one store to another',
    },
    { command: 'dart-curate pool export | dart-curate demos -o demos.ndjson', describe: 'the pool as demonstrations' },
  ],
  exitCodes: { 1: 'the pool is empty' },
  run: async (context) => (await import('./pool_export.ts')).exportPool(context),
};
