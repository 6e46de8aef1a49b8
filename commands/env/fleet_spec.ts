import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec, PositionalSpec } from '../../lib/cli/spec.ts';
import { KINDS } from '../../lib/environment/kinds.ts';
import { kindFlags } from './kind_flags.ts';

/** Where to look for desktops that other commands have started. */
export const WHERE: readonly OptionSpec[] = [
  {
    name: 'driver',
    type: 'string',
    value: 'NAME',
    choices: KINDS.filter((kind) => kind.fleet).map(({ name }) => name),
    describe: 'Look only for desktops of this kind',
  },
  ...kindFlags((option) => option.fleet === true),
].map((option) => ({ ...option, group: 'Where' }) as OptionSpec);

const ENV: PositionalSpec = { name: 'env', describe: 'The env_id of a desktop that runs', required: true };

/** `dart-env list`: what runs. */
const list: CommandSpec = {
  name: 'list',
  summary: 'Print the desktops that run, whoever started them',
  description:
    'One env record each, the oldest first, as dart-rollout --env - takes them. Orphans are those whose command has gone without removing them. Embedded desktops live in their command and are not seen.',
  options: [
    { name: 'run', type: 'string', value: 'ID', describe: 'Only desktops of this run', group: 'Which' },
    { name: 'orphans', type: 'boolean', describe: 'Only orphans', group: 'Which' },
    ...WHERE,
    ...OUTPUT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  examples: [{ command: 'dart-env list --table', describe: 'what runs on this machine' }],
  run: async (context) => (await import('./list.ts')).run(context),
};

/** `dart-env down`: what is removed. */
const down: CommandSpec = {
  name: 'down',
  summary: 'Remove desktops that run',
  description:
    'Removes the desktops that are named, or those of a run, orphans, or all. Only what this toolkit has started is ever touched, and what a command still holds only by --run, --all or its name.',
  positionals: [{ name: 'env', describe: 'The env_id of a desktop', multiple: true }],
  options: [
    { name: 'run', type: 'string', value: 'ID', describe: 'Remove the desktops of this run', group: 'Which' },
    {
      name: 'orphans',
      type: 'boolean',
      describe: 'Remove those whose command has gone without removing them',
      group: 'Which',
    },
    { name: 'all', type: 'boolean', describe: 'Remove all, those in use too', group: 'Which' },
    ...WHERE,
    ...OUTPUT_OPTIONS.filter(({ name }) => name === 'output'),
    ...COMMON_OPTIONS,
    DRY_RUN_OPTION,
  ],
  examples: [
    { command: 'dart-env down --orphans', describe: 'clean up after a command that was killed' },
    { command: 'dart-env down --run night', describe: 'what dart-env up --detach --run-id night has left' },
  ],
  run: async (context) => (await import('./down.ts')).run(context),
};

/** `dart-env logs`: what a desktop says. */
const logs: CommandSpec = {
  name: 'logs',
  summary: 'Print what a desktop has logged',
  description: 'Text as it is, not records.',
  positionals: [ENV],
  options: [
    { name: 'follow', alias: 'f', type: 'boolean', describe: 'Go on until it ends, or until Ctrl-C', group: 'What' },
    { name: 'tail', type: 'integer', value: 'N', min: 0, describe: 'Only the last N lines', group: 'What' },
    ...WHERE,
    ...COMMON_OPTIONS,
  ],
  examples: [{ command: 'dart-env logs docker-1a2b3c-0 --follow', describe: 'watch a desktop boot' }],
  run: async (context) => (await import('./logs.ts')).run(context),
};

/** `dart-env exec`: a program in a desktop. */
const exec: CommandSpec = {
  name: 'exec',
  summary: 'Run a program in a desktop',
  description:
    'Its output and its errors come out where they belong, and its exit code is the exit code. From containers and pods they come as ' +
    'they are written; from other desktops when the program has ended. Its own input is empty.',
  positionals: [
    { ...ENV, describe: 'The env_id of a desktop that runs, or its server, http://127.0.0.1:5000' },
    { name: 'command', describe: 'The program and its arguments, behind --', multiple: true, required: true },
  ],
  options: [...WHERE, ...COMMON_OPTIONS],
  examples: [{ command: 'dart-env exec docker-1a2b3c-0 -- ls -la /home/user', describe: 'what is in its home' }],
  exitCodes: {
    1: 'whatever the program ended with, as any other number',
    127: 'there is no such program in the desktop',
  },
  run: async (context) => (await import('./exec.ts')).run(context),
};

export const FLEET_COMMANDS: readonly CommandSpec[] = [down, list, logs, exec];
