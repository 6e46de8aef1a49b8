import { DartError, messageOf } from '../../errors.ts';
import { CannotStart } from '../environment.ts';

/** Words by which Docker's answers are told apart; it has no codes. First match wins. `final`: as long as nobody acts. */
const KNOWN: readonly { words: RegExp; message: string; hint: string; final?: true }[] = [
  {
    words: /no space left on device|disk quota exceeded/i,
    message: "the disk of Docker's data is full",
    hint: 'docker system df, then docker system prune, or a larger disk',
  },
  {
    words: /port is already allocated|address already in use/i,
    final: true,
    message: 'a port is taken',
    hint: 'first-port=0, which takes any that are free, or another first-port',
  },
  {
    words: /minimum memory limit|memory limit.*(too small|minimum)/i,
    final: true,
    message: 'there is not enough memory for it',
    hint: 'another memory=SIZE (2g is our image’s default), or fewer desktops',
  },
  {
    words: /cannot allocate memory/i,
    message: 'there is not enough memory for it',
    hint: 'a smaller memory=SIZE, or fewer desktops',
  },
  {
    words: /range of cpus is from/i,
    final: true,
    message: 'this machine has not so many cores',
    hint: 'a smaller cpus=N',
  },
  {
    words: /error gathering device information|no such file or directory.*\/dev\/kvm/i,
    final: true,
    message: 'there is no /dev/kvm for the virtual machine',
    hint: 'virtualisation switched on in the firmware, or emulate=true, many times slower',
  },
  {
    words: /all predefined address pools have been fully subnetted|could not find an available.*address pool/i,
    message: 'Docker has no addresses left for another network',
    hint: 'docker network prune',
  },
  {
    words:
      /no such host|temporary failure resolving|could not resolve|network is unreachable|i\/o timeout|tls handshake timeout/i,
    message: 'the network cannot be reached',
    hint: 'the connection, its proxy, and --mirror for a build',
  },
];

/** What a failed connection means, by its code. `%` is the address. */
const UNREACHED: Readonly<Record<string, [message: string, hint: string]>> = {
  ENOENT: ['there is no Docker at %', 'apt install docker.io and its daemon started, or DOCKER_HOST'],
  ECONNREFUSED: ['no Docker answers at %', 'its daemon started (systemctl start docker), or DOCKER_HOST'],
  EACCES: ['no permission to use Docker at %', 'sudo usermod -aG docker $USER and a new login, or root'],
  ENOTFOUND: ['there is no machine of the name in %', 'another DOCKER_HOST'],
};

/**
 * What Docker has said, for people.
 * @param doing What was tried: `start a container`.
 */
export function dockerError(error: unknown, doing: string, where: string): DartError {
  if (error instanceof DartError) return error;
  const { code, address } = error as { code?: string; address?: string };
  const unreached = code === undefined ? undefined : UNREACHED[code];
  if (unreached) {
    const [message, hint] = unreached;
    return new CannotStart(message.replace('%', address ?? 'its address'), { where: 'docker', hint, cause: error });
  }
  const said = saidBy(error);
  const known = KNOWN.find(({ words }) => words.test(said));
  if (!known) return new DartError(`Docker could not ${doing}: ${said}`, { where, cause: error });
  const Kind = known.final ? CannotStart : DartError;
  return new Kind(`Docker could not ${doing}: ${known.message} (${said})`, {
    where,
    hint: known.hint,
    cause: error,
  });
}

/** @param profile Whose image it is. */
export function imageMissing(image: string, profile: 'desktop' | 'osworld'): DartError {
  const variant = /^dart-desktop:(\w+)$/.exec(image)?.[1] ?? 'slim';
  const build = `dart-env build-image --variant ${variant}${/^dart-desktop:/.test(image) ? '' : ` --tag ${image}`}`;
  return new CannotStart(`there is no image ${image}`, {
    where: 'docker',
    hint: profile === 'osworld' ? `docker pull ${image}` : build,
  });
}

/** The status of an HTTP answer, where the error is one. */
export function statusOf(error: unknown): number | undefined {
  return (error as { statusCode?: number }).statusCode;
}

/** Docker's own words on one line, without the client's wrapping. */
function saidBy(error: unknown): string {
  const { json } = error as { json?: { message?: unknown } };
  const said = typeof json?.message === 'string' ? json.message : messageOf(error);
  return said.replaceAll(/\s+/g, ' ').trim();
}
