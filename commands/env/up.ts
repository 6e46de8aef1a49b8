import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { openDriver } from '../../lib/environment/open.ts';
import { ServedDesktops } from '../../lib/environment/serve.ts';
import { EXIT } from '../../lib/errors.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { readerLeaves, stopped } from './hold.ts';

/** Starts the desktops, holds them until the command is stopped, and removes them. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options } = context;
  const log = logOf(context);
  const spec = specOf(options);
  const port = portOf(options);
  if (options['dry-run'] === true) {
    log.info(`would start ${spec}`);
    return EXIT.ok;
  }
  const output = await openOutput(context);
  const desktops = new ServedDesktops(await openDriver(spec), {
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

/** What `dart-rollout --env` takes for desktops of its own. */
function specOf(options: CommandContext['options']): string {
  const { driver, count, latency, reset, jitter } = options;
  return `${driver}:${count},latency=${latency},reset=${reset},jitter=${jitter}`;
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
