import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import { PROGRESS_OPTION } from '../../lib/cli/progress.ts';
import type { CommandSpec, OptionSpec } from '../../lib/cli/spec.ts';

const OPTIONS: readonly OptionSpec[] = [
  {
    name: 'variant',
    type: 'string',
    value: 'NAME',
    choices: ['slim', 'office', 'full'],
    default: 'slim',
    describe:
      'slim: browser, editor, files, terminal; office: also LibreOffice, pictures, PDF, mail; full: also VLC and GIMP',
  },
  {
    name: 'tag',
    type: 'string',
    value: 'IMAGE',
    describe: 'Name of the image (default: dart-desktop:VARIANT)',
  },
  {
    name: 'base',
    type: 'string',
    value: 'IMAGE',
    describe:
      'Debian 12 to build on: an image, or debootstrap to put one together (default: debian:bookworm-slim, or debootstrap where it cannot be pulled)',
  },
  {
    name: 'mirror',
    type: 'string',
    value: 'URL',
    default: 'http://deb.debian.org/debian',
    describe: "Where Debian's packages are",
  },
  {
    name: 'security-mirror',
    type: 'string',
    value: 'URL',
    default: 'http://deb.debian.org/debian-security',
    describe: "Where Debian's security updates are",
  },
  {
    name: 'host',
    type: 'string',
    value: 'URL',
    describe: 'Where Docker listens (default: $DOCKER_HOST, else unix:///var/run/docker.sock)',
  },
].map((option) => ({ ...option, group: 'Image' }) as OptionSpec);

/** `dart-env build-image`: our desktop as an image. */
export const buildImage: CommandSpec = {
  name: 'build-image',
  summary: 'Build the image of the desktops that run in containers',
  description: [
    "Builds fixtures/desktop-image with Docker: Debian with applications, a screen, an accessibility bus, and a server that answers OSWorld's API. Node's binary is this machine's own.",
    'What has not changed is not built again. Prints one event record and a summary.',
  ].join('\n\n'),
  options: [...OPTIONS, ...OUTPUT_OPTIONS, PROGRESS_OPTION, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  examples: [
    { command: 'dart-env build-image', describe: 'dart-desktop:slim, which --env docker:N uses' },
    {
      command: 'dart-env build-image --variant full --base debootstrap --mirror http://debian.example.org/debian',
      describe: 'with all applications, without a registry, from a mirror of your own',
    },
  ],
  run: async (context) => (await import('./build_image.ts')).run(context),
};
