import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_FILE, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec, PositionalSpec } from '../../lib/cli/spec.ts';
import { KINDS } from '../../lib/environment/kinds.ts';
import { WHERE } from './fleet_spec.ts';
import { kindFlags } from './kind_flags.ts';

const UP_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'driver',
    type: 'string',
    value: 'NAME',
    choices: KINDS.map(({ name }) => name),
    default: 'embedded',
    describe: 'What kind of desktop',
  },
  {
    name: 'count',
    alias: 'n',
    type: 'integer',
    value: 'N',
    defaultText: '1',
    min: 1,
    max: 10_000,
    describe: 'How many desktops',
  },
  {
    name: 'port',
    type: 'integer',
    value: 'PORT',
    default: 0,
    min: 0,
    max: 65_535,
    describe: 'embedded: port of the first desktop, the others follow; 0 takes any that are free',
  },
  {
    name: 'run-id',
    type: 'string',
    value: 'ID',
    describe: 'The run that they belong to, for dart-env down --run (default: a new one)',
  },
  {
    name: 'detach',
    type: 'boolean',
    describe: 'Leave the desktops running and end; dart-env down removes them',
  },
  {
    name: 'grace',
    type: 'number',
    value: 'S',
    default: 5,
    min: 0,
    describe: 'After a signal, how long the reader may go on using the desktops; it gets the signal too at a terminal',
  },
].map((option) => ({ ...option, group: 'Desktops' }) as OptionSpec);

/** `dart-env up`: desktops behind servers. */
export const up: CommandSpec = {
  name: 'up',
  summary: 'Start desktops and keep them up for the commands that read',
  description: [
    "Starts desktops, each behind a server that answers OSWorld's API, and prints an env record when one is ready. They stay up until the reader of the records leaves, or a signal comes; then they are removed. A second signal skips that.",
    'A pipe gets a heartbeat event every two seconds, so that a reader behind a reader is missed when it leaves. With -o the file is written when all are ready.',
  ].join('\n\n'),
  options: [...UP_OPTIONS, ...kindFlags(), ...OUTPUT_OPTIONS, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  examples: [
    {
      command:
        'dart-env up -n 2 | dart-rollout --tasks fixtures/tasks/embedded --env - --policy script -n 1 | dart-eval score -',
      describe: 'the experts at work in desktops of another process',
    },
    { command: 'dart-env up -n 4 --port 5000 > envs.ndjson', describe: 'four desktops, until Ctrl-C' },
  ],
  run: async (context) => (await import('./up.ts')).run(context),
};

const DESKTOP: PositionalSpec = {
  name: 'desktop',
  describe:
    'The env_id of a desktop that runs, its server, http://127.0.0.1:5000, or the word embedded for a fresh one in the state of --seed',
  required: true,
};

/** `dart-env screenshot`: one look. */
export const screenshot: CommandSpec = {
  name: 'screenshot',
  summary: 'Save what a desktop shows as a PNG file',
  positionals: [DESKTOP],
  options: [
    { ...OUTPUT_FILE, describe: 'The PNG file; - writes it to standard output instead of records', group: 'Output' },
    ...WHERE,
    ...COMMON_OPTIONS,
  ],
  examples: [{ command: 'dart-env screenshot http://127.0.0.1:5000 -o screen.png', describe: 'one look' }],
  run: async (context) => (await import('./screenshot.ts')).run(context),
};

/** `dart-env act`: one action by hand. */
export const act: CommandSpec = {
  name: 'act',
  summary: 'Play actions in a desktop by hand',
  description:
    'Reads the actions as replies of a policy are read, in pixels of the screen, plays them in order, and prints one event record each.',
  positionals: [
    DESKTOP,
    {
      name: 'action',
      describe: "UI-TARS's grammar or its short form: click(120,48), type('hi'), hotkey(ctrl s)",
      multiple: true,
      required: true,
    },
  ],
  options: [
    {
      name: 'screenshot',
      type: 'string',
      value: 'FILE',
      describe: 'Save what the desktop shows afterwards as a PNG file',
      group: 'Output',
    },
    ...WHERE,
    ...OUTPUT_OPTIONS.filter(({ name }) => name === 'output'),
    ...COMMON_OPTIONS,
    DRY_RUN_OPTION,
  ],
  examples: [
    { command: "dart-env act http://127.0.0.1:5000 'click(120,48)'", describe: 'a click' },
    {
      command: "dart-env act embedded 'left_double(20,20)' 'wait()' --seed 3 --screenshot after.png",
      describe: 'what an action does in a fresh embedded desktop',
    },
  ],
  run: async (context) => (await import('./act.ts')).run(context),
};
