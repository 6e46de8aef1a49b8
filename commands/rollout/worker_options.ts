import type { OptionSpec } from '../../lib/cli/spec.ts';

/** As what a policy of this process is opened; for all commands that open one as a pool of workers. */
export const WORKER_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'workers',
    type: 'integer',
    value: 'N',
    default: 2,
    min: 1,
    max: 1024,
    describe: 'Workers that an onnx policy is opened as',
  },
  {
    name: 'threads',
    type: 'integer',
    value: 'N',
    default: 1,
    min: 1,
    max: 1024,
    describe: 'Threads of one onnx worker; all workers together have at most 4096',
  },
];

/** How workers change versions. */
export const SYNC_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'sync',
    type: 'string',
    value: 'HOW',
    choices: ['one', 'global', 'off'],
    default: 'one',
    describe: 'Workers change to new versions one at a time, all together, or never',
  },
  {
    name: 'sync-interval',
    type: 'number',
    value: 'S',
    default: 1,
    min: 0.05,
    describe: 'How often to look for a newer version',
  },
];
