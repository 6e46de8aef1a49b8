import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { FROM_OPTION, TASK_FILTERS } from '../task_filter.ts';
import { buildImage } from './build_image_spec.ts';
import { act, screenshot, up } from './desktops_spec.ts';
import { FLEET_COMMANDS } from './fleet_spec.ts';
import { guest } from './guest_spec.ts';

/** `dart-env tasks`: task files as records. */
const tasks: CommandSpec = {
  name: 'tasks',
  summary: 'Print tasks as records',
  description:
    'Reads OSWorld task files and prints one task record each, in the order of their paths, and a summary. Filters add up.',
  options: [FROM_OPTION, ...TASK_FILTERS, ...OUTPUT_OPTIONS, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  examples: [
    { command: 'dart-env tasks --from fixtures/tasks/embedded --table', describe: 'the tasks of the embedded suite' },
    {
      command: 'dart-env tasks --from OSWorld/evaluation_examples/test_all.json --domain chrome --sample 5 --seed 1',
      describe: 'five of OSWorld’s browser tasks',
    },
  ],
  run: async (context) => (await import('./tasks.ts')).run(context),
};

/** `dart-env doctor`: what this machine has. */
const doctor: CommandSpec = {
  name: 'doctor',
  summary: 'Tell what this machine has and how to get what it lacks',
  description:
    'Looks for everything that a part of the toolkit can use, and prints one event record for each, a summary, and a table on stderr. Only Node and the native addon are needed; what else is missing only limits the scale.',
  options: COMMON_OPTIONS,
  examples: [{ command: 'dart-env doctor', describe: 'before the first run on a new machine' }],
  exitCodes: { 1: 'something that every command needs is missing' },
  run: async (context) => (await import('./doctor.ts')).run(context),
};

export const spec: CommandSpec = {
  name: 'dart-env',
  summary: 'Tasks and desktops for the other commands',
  description:
    'Prints the tasks of OSWorld-style suites, starts desktops and keeps them up, and tells what this machine can run.',
  options: [],
  subcommands: [tasks, up, ...FLEET_COMMANDS, screenshot, act, doctor, guest, buildImage],
  examples: [
    {
      command:
        'dart-env tasks --from fixtures/tasks/embedded | dart-rollout --tasks - --env embedded:4 --policy script -n 1',
      describe: 'the experts of the embedded suite at work',
    },
  ],
};
