import type { DriverKind, KindOption } from '../kind.ts';

const OPTIONS: readonly KindOption[] = [
  {
    name: 'profile',
    type: 'string',
    value: 'NAME',
    choices: ['desktop', 'osworld'],
    default: 'desktop',
    describe: 'What the image is: our desktop, or a virtual machine of OSWorld in a container',
  },
  {
    name: 'image',
    type: 'string',
    value: 'IMAGE',
    describe: 'Image of the containers (default: dart-desktop:slim, happysixd/osworld-docker for osworld)',
  },
  {
    name: 'memory',
    type: 'bytes',
    value: 'SIZE',
    describe: 'Memory that a container may use (default: 2g; none for osworld)',
  },
  { name: 'cpus', type: 'number', value: 'N', min: 0.1, describe: 'Cores that a container may use (default: all)' },
  { name: 'shm', type: 'bytes', value: 'SIZE', default: 512 * 2 ** 20, describe: 'Shared memory, which browsers need' },
  {
    name: 'size',
    type: 'string',
    value: 'WxH',
    describe: 'Screen in pixels (default: 1280x800; osworld has its own)',
  },
  {
    name: 'reset',
    type: 'string',
    value: 'HOW',
    choices: ['container', 'session'],
    default: 'container',
    describe: 'Between two rollouts: a fresh container, or a clean home and a restarted session in the same one',
  },
  {
    name: 'boot-timeout',
    type: 'number',
    value: 'S',
    min: 1,
    describe: 'How long a desktop may take until it gives a screenshot (default: 90; 300 for osworld)',
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
  {
    name: 'network',
    type: 'string',
    value: 'NAME',
    describe: 'Docker network (default: one of our own, in which containers do not reach each other)',
  },
  {
    name: 'qcow2',
    type: 'string',
    value: 'FILE',
    describe: 'osworld: disk of the virtual machine, read and never written',
  },
  { name: 'vm-disk', type: 'bytes', value: 'SIZE', default: 32 * 2 ** 30, describe: 'osworld: size of its disk' },
  { name: 'vm-memory', type: 'bytes', value: 'SIZE', default: 4 * 2 ** 30, describe: 'osworld: its memory' },
  { name: 'vm-cpus', type: 'integer', value: 'N', default: 4, min: 1, max: 256, describe: 'osworld: its cores' },
  {
    name: 'emulate',
    type: 'boolean',
    default: false,
    describe: 'osworld: run without /dev/kvm, many times slower',
  },
  {
    name: 'host',
    type: 'string',
    value: 'URL',
    describe: 'Where Docker listens (default: $DOCKER_HOST, else unix:///var/run/docker.sock)',
    fleet: true,
  },
];

/** Desktops in containers of this machine's Docker. */
export const dockerKind: DriverKind = {
  name: 'docker',
  summary: 'Desktops in containers: our image, or the virtual machine of OSWorld',
  options: OPTIONS,
  detachable: true,
  check: async (values) => void (await import('./settings.ts')).settingsOf(values),
  open: async (count, values, options) => (await import('./driver.ts')).openDocker(count, values, options),
  fleet: async (values) => (await import('./fleet.ts')).openDockerFleet(values),
};
