import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { kindNamed } from '../../lib/environment/kinds.ts';
import { type DesktopRequest, desktopRequest } from '../../lib/environment/request.ts';
import type { Given } from '../../lib/environment/values.ts';
import { flagName, givenFor } from './kind_flags.ts';

/** What the flags of `dart-env up` ask for, and what of it was given. */
export interface UpRequest {
  request: DesktopRequest;
  given: ReadonlyMap<string, Given>;
  /** Of the first desktop of this process; 0: any. */
  port: number;
}

/** @throws UsageError where flags do not go together. */
export function requestOf(context: CommandContext): UpRequest {
  const { options } = context;
  const kind = kindNamed(String(options.driver), '--driver');
  const given = givenFor(kind, context);
  const urls = given.get('url') as readonly string[] | undefined;
  const attached = kind.name === 'attach' ? (urls?.length ?? 0) : undefined;
  if (attached === 0)
    throw new UsageError('names no desktop', { where: '--driver attach', hint: '--url http://127.0.0.1:5000' });
  if (attached !== undefined && options.count !== undefined && options.count !== attached) {
    throw new UsageError(`${attached} desktops are given by --url`, { where: '--count', hint: 'leave it out' });
  }
  if (options.detach === true && kind.detachable !== true) {
    throw new UsageError(`${kind.name} desktops cannot be left behind: ${kind.detachable}`, { where: '--detach' });
  }
  const count = attached ?? (options.count as number | undefined) ?? 1;
  const request = desktopRequest(kind, count, given, (name) => `--${flagName(kind.name, name)}`);
  return { request, given, port: portOf(options, kind.name, count) };
}

/** @throws UsageError where the ports of all desktops do not exist. */
function portOf({ port }: CommandContext['options'], kind: string, count: number): number {
  if (port === undefined || port === 0) return 0;
  if (kind !== 'embedded') {
    throw new UsageError(`${kind} desktops have servers of their own`, { where: '--port', hint: 'leave it out' });
  }
  if ((port as number) + count - 1 <= 65_535) return port as number;
  throw new UsageError(`${count} desktops do not fit between ${port} and 65535`, { where: '--port', hint: '--port 0' });
}

/** What `--env` would say; of servers only how many, since an address may hold a token. */
export function wordsOf({ kind, count }: DesktopRequest, given: ReadonlyMap<string, Given>): string {
  const shown = [...given]
    .filter(([name]) => name !== 'url')
    .flatMap(([name, value]) => [value].flat().map((one) => `,${name}=${one}`));
  return `${kind.name}:${count}${shown.join('')}`;
}
