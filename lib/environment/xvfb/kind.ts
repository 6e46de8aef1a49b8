import type { DriverKind, KindOption } from '../kind.ts';

const OPTIONS: readonly KindOption[] = [
  { name: 'size', type: 'string', value: 'WxH', default: '1280x800', describe: 'Screen in pixels' },
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
    name: 'start',
    type: 'list',
    value: 'COMMAND',
    describe: 'Shell command that is started with every session: a panel, an application',
  },
  {
    name: 'boot-timeout',
    type: 'number',
    value: 'S',
    min: 1,
    default: 90,
    describe: 'How long a desktop may take until it can be used',
  },
  {
    name: 'first-port',
    type: 'integer',
    value: 'PORT',
    default: 0,
    min: 0,
    max: 65_535,
    describe: "Port of the first desktop's server on loopback, the others follow; 0 takes any that are free",
  },
];

/** Desktops under X servers of this machine, without containers. */
export const xvfbKind: DriverKind = {
  name: 'xvfb',
  summary: 'Desktops on this machine under Xvfb, without containers: its own programs, a home folder for each',
  options: OPTIONS,
  detachable: true,
  check: async (values) => void (await import('./driver.ts')).settingsOf(values),
  open: async (count, values, options) => (await import('./driver.ts')).openXvfb(count, values, options),
  fleet: async () => (await import('./fleet.ts')).openXvfbFleet(),
};
