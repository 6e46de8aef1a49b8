import { COMMON_OPTIONS, DRY_RUN_OPTION } from '../../lib/cli/common.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';

const SERVER: readonly OptionSpec[] = [
  {
    name: 'port',
    type: 'integer',
    value: 'PORT',
    default: 5000,
    min: 0,
    max: 65_535,
    describe: 'Port of the server; 0 takes any that is free',
  },
  {
    name: 'host',
    type: 'string',
    value: 'HOST',
    default: '127.0.0.1',
    describe: 'Address to listen on; one that others can reach wants a token in DART_GUEST_TOKEN, or --open',
  },
  {
    name: 'open',
    type: 'boolean',
    default: false,
    describe:
      'Listen where others can reach it without a token: inside a container whose port is published on loopback',
  },
].map((option) => ({ ...option, group: 'Server' }) as OptionSpec);

const DESKTOP: readonly OptionSpec[] = [
  { name: 'size', type: 'string', value: 'WxH', default: '1280x800', describe: 'Screen in pixels' },
  {
    name: 'home',
    type: 'string',
    value: 'DIR',
    describe:
      'Home folder, emptied at every reset: an empty folder, or one that was such a home before (default: a temporary one)',
  },
  {
    name: 'skeleton',
    type: 'string',
    value: 'DIR',
    describe: 'What a fresh home folder has, beside the usual folders',
  },
  {
    name: 'user',
    type: 'string',
    value: 'NAME',
    describe: 'Whose rights the programs have, where this command is run by root (default: who runs it)',
  },
  {
    name: 'display',
    type: 'integer',
    value: 'N',
    min: 0,
    max: 65_535,
    describe: 'Number of the X display (default: any that is free)',
  },
  {
    name: 'start',
    type: 'string',
    value: 'COMMAND',
    multiple: true,
    describe: 'Shell command that is started with every session: a panel, an application',
  },
].map((option) => ({ ...option, group: 'Desktop' }) as OptionSpec);

/** `dart-env guest`: one desktop of this machine behind a server. */
export const guest: CommandSpec = {
  name: 'guest',
  summary: 'Run one desktop under Xvfb with its server, as our image does',
  description: [
    "Starts a desktop under Xvfb with a window manager, a message bus and an accessibility bus, and puts it on the endpoints of OSWorld's server. Prints its env record when it can be used, and removes all of it at the end.",
    'Python in the desktop can import pyautogui: the package where it is installed, else a small one of ours.',
  ].join('\n\n'),
  options: [...SERVER, ...DESKTOP, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  examples: [
    { command: 'dart-env guest --size 1920x1080', describe: 'a desktop on port 5000, until Ctrl-C' },
    { command: 'dart-env guest --port 0 | dart-rollout --tasks tasks.ndjson --env -', describe: 'one for a rollout' },
  ],
  run: async (context) => (await import('./guest.ts')).run(context),
};
