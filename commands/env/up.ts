import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { kindNamed } from '../../lib/environment/kinds.ts';
import { openDriver } from '../../lib/environment/open.ts';
import { type DesktopRequest, desktopRequest } from '../../lib/environment/request.ts';
import { ServedDesktops } from '../../lib/environment/serve.ts';
import { EXIT } from '../../lib/errors.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { readerLeaves, stopped } from './hold.ts';
import { givenFor } from './kind_flags.ts';

/** Starts the desktops, holds them until the command is stopped, and removes them. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options } = context;
  const log = logOf(context);
  const kind = kindNamed(String(options.driver), '--driver');
  const request = desktopRequest(kind, options.count as number, givenFor(kind, context), (name) => `--${name}`);
  const port = portOf(options);
  if (options['dry-run'] === true) {
    log.info(`would start ${wordsOf(request, givenFor(kind, context))}`);
    return EXIT.ok;
  }
  const output = await openOutput(context);
  const desktops = new ServedDesktops(await openDriver(request, { runId: 'none' }), {
    port,
    name: `${options.driver}-${process.pid}`,
    signal: io.signal,
  });
  const toFile = options.output !== '-';
  try {
    await desktops.start((env) => output.write(env));
    const { length } = desktops.envs;
    const summary = { type: 'summary', v: SCHEMA_VERSION, command: 'dart-env up', desktops: length } as const;
    if (toFile) {
      await output.write(summary);
      await output.close();
    }
    if (options.table === true) await printTable(io, ['desktop', 'server'], desktops.envs.map(rowOf));
    log.info(`${length} ${length === 1 ? 'desktop is' : 'desktops are'} ready; Ctrl-C removes them`);
    await stopped(io.signal);
    if (io.signal.reason instanceof ReaderGone) return EXIT.ok;
    await readerLeaves(io, (options.grace as number) * 1000);
    if (toFile) return EXIT.ok;
    for (const env of desktops.envs) await output.write({ ...env, state: 'stopped' });
    await output.write(summary);
    return EXIT.ok;
  } finally {
    await desktops.close();
  }
}

/** @throws UsageError where the ports of all desktops do not exist. */
function portOf({ port, count }: CommandContext['options']): number {
  const last = (port as number) + (count as number) - 1;
  if (port === 0 || last <= 65_535) return port as number;
  throw new UsageError(`${count} desktops do not fit between ${port} and 65535`, { where: '--port', hint: '--port 0' });
}

function rowOf({ env_id, server_url }: ServedDesktops['envs'][number]): [string, string | null] {
  return [env_id, server_url];
}

/** What `--env` would say; of servers only how many, since an address may hold a token. */
function wordsOf({ kind, count }: DesktopRequest, given: ReadonlyMap<string, unknown>): string {
  const shown = [...given]
    .filter(([name]) => name !== 'url')
    .flatMap(([name, value]) => [value].flat().map((one) => `,${name}=${one}`));
  return `${kind.name}:${count}${shown.join('')}`;
}
