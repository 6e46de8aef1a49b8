import type { OptionSpec } from '../../lib/cli/spec.ts';

export const BLOBS: OptionSpec = {
  name: 'blobs',
  type: 'string',
  value: 'DIR',
  describe: 'Folder of the screenshots; with it, trajectories whose screenshots are missing are left out',
  group: 'Input',
};

/** Options of `dart-curate`, by what they are about. Nothing heavy may be imported here: `--help` reads it. */
const input: OptionSpec[] = [
  { name: 'follow', type: 'boolean', describe: 'Go on reading files that grow, and take up what the store holds' },
  BLOBS,
];

const memory: OptionSpec[] = [
  {
    name: 'hold-memory',
    type: 'number',
    value: 'MB',
    min: 0,
    default: 256,
    describe:
      'Megabytes of trajectories of unfinished groups (and of the pool, without --store) in memory; more goes to $TMPDIR',
  },
];

const repeated: OptionSpec[] = [
  {
    name: 'cursor',
    type: 'string',
    value: 'NAME',
    describe: 'Go on where the last run with this name ended; groups that are incomplete wait for the next run',
  },
  {
    name: 'lock',
    type: 'string',
    value: 'PATH',
    describe: 'Lock file; a second run ends with exit code 75 (default: one of the cursor; without a cursor none)',
  },
  { name: 'from-store', type: 'boolean', describe: 'Read the trajectories that the store holds, in order of arrival' },
];

export const STORE: OptionSpec = {
  name: 'store',
  type: 'string',
  value: 'URL',
  describe: 'Store, sqlite:PATH or mysql://USER@HOST/DATABASE; without it everything is kept in memory',
  group: 'Store',
};

const store: OptionSpec[] = [
  STORE,
  {
    name: 'lease',
    type: 'number',
    value: 'S',
    min: 1,
    default: 600,
    describe: 'Seconds after which a group that was handed on and not learned from comes again (--follow)',
  },
  {
    name: 'run-id',
    type: 'string',
    value: 'ID',
    describe:
      'Run whose groups come again before any of its trajectories arrives (--follow; default: all of the store)',
  },
];

const rules: OptionSpec[] = [
  {
    name: 'preset',
    type: 'string',
    choices: ['dart', 'arpo', 'grpo'],
    default: 'dart',
    describe: 'Settings that the options of this group change one by one; they differ in the pool (grpo: none)',
  },
  {
    name: 'max-staleness',
    type: 'integer',
    value: 'N',
    min: 0,
    describe: 'Model versions that a trajectory may be behind when its group closes (8)',
  },
  { name: 'min-scored', type: 'integer', value: 'N', min: 1, describe: 'Scored rollouts that a group needs (2)' },
  { name: 'max-group', type: 'integer', value: 'N', min: 2, describe: 'Trim larger groups to N rollouts (no limit)' },
  {
    name: 'group-timeout',
    type: 'number',
    value: 'S',
    min: 0,
    describe: 'Close a group as it is when no member came for so many seconds of waiting (600)',
  },
  { name: 'keep-constant', type: 'boolean', describe: 'Hand on groups whose rewards are all the same, too' },
  {
    name: 'advantage',
    type: 'string',
    choices: ['grpo', 'dr_grpo', 'rloo'],
    describe: 'How rewards become advantages (grpo)',
  },
  {
    name: 'advantage-scope',
    type: 'string',
    choices: ['trajectory', 'step'],
    describe:
      'What counts once in the mean of a group: a trajectory, or as in DART’s code each of its steps (trajectory)',
  },
];

export const POOL_CAPACITY: OptionSpec = {
  name: 'pool-capacity',
  type: 'integer',
  value: 'N',
  min: 1,
  describe: 'Successes kept per task, first in first out (8)',
  group: 'Experience pool',
};

const pool: OptionSpec[] = [
  { name: 'no-pool', type: 'boolean', describe: 'No experience pool: groups that all failed are dropped' },
  POOL_CAPACITY,
];

const under = (group: string, options: OptionSpec[]) => options.map((option) => ({ ...option, group }));

export const CURATE_OPTIONS: readonly OptionSpec[] = [
  ...under('Input', [...input, ...memory]),
  ...under('Repeated runs', repeated),
  ...under('Store', store),
  ...under('Rules', rules),
  ...under('Experience pool', pool),
];
