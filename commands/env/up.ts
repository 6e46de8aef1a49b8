import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { onSkippedCleanUp } from '../../lib/cli/stop.ts';
import { printTable } from '../../lib/cli/table.ts';
import { HeldDesktops } from '../../lib/environment/held.ts';
import { openPool } from '../../lib/environment/open.ts';
import type { EnvironmentPool } from '../../lib/environment/pool.ts';
import { ReplaceServer } from '../../lib/environment/replace_server.ts';
import { EXIT } from '../../lib/errors.ts';
import { type Env, SCHEMA_VERSION, type Summary } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { newRunId } from '../run_id.ts';
import { beat, readerLeaves, stopped } from './hold.ts';
import { requestOf, wordsOf } from './up_request.ts';

/** Starts the desktops, holds them until the command is stopped, and removes them; with --detach leaves them. */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const log = logOf(context);
  const { request, given, port } = requestOf(context);
  const { kind } = request;
  const runId = (options['run-id'] as string | undefined) ?? newRunId();
  const detach = options.detach === true;
  if (options['dry-run'] === true) {
    await kind.check?.(request.values);
    log.info(`would start ${wordsOf(request, given)}`);
    return EXIT.ok;
  }
  const byHand = kind.fleet ? onSkippedCleanUp(`desktops stay behind. Try: dart-env down --run ${runId}`) : () => {};
  const pool = await openPool(request, {
    ...{ runId, detach, tell: (line: string) => log.info(line) },
    name: kind.fleet ? undefined : `${kind.name}-${process.pid}`,
    onFailure: ({ env_id, error, retired }) => {
      log.warnOften(
        'desktop failures',
        `desktop ${env_id} ${retired ? 'given up' : 'replaced'}: ${error instanceof Error ? error.message : error}`,
      );
    },
  });
  let held: HeldDesktops | undefined;
  // Desktops in this process reset themselves, and those of others are not ours to replace.
  const replaces = kind.fleet !== undefined && !detach;
  const replacing = replaces ? await ReplaceServer.open((id) => held!.replace(id)) : null;
  held = new HeldDesktops(pool, {
    ...{ count: request.count, runId, port, replaceUrl: replacing?.url, signal: context.io.signal },
  });
  try {
    return await hold(context, { held, pool, count: request.count, runId, detach });
  } finally {
    await replacing?.close();
    await held.close();
    await (detach ? pool.abandon() : pool.close());
    byHand();
  }
}

interface Holding {
  held: HeldDesktops;
  pool: EnvironmentPool;
  count: number;
  runId: string;
  detach: boolean;
}

async function hold(context: CommandContext, { held, pool, count, runId, detach }: Holding): Promise<number> {
  const { io, options } = context;
  const log = logOf(context);
  const output = await openOutput(context);
  const toFile = options.output !== '-';
  await held.start((env) => output.write(env));
  const { length } = held.envs;
  const code = length === count ? EXIT.ok : EXIT.failure;
  const summary = (): Summary => {
    const { booted, replaced, failures } = pool.counts;
    const counts = { desktops: length, missing: count - length, booted, replaced, failures };
    return { type: 'summary', v: SCHEMA_VERSION, command: 'dart-env up', run_id: runId, ...counts };
  };
  if (toFile || detach) {
    await output.write(summary());
    await output.close();
  }
  if (options.table === true) await printTable(io, ['desktop', 'server'], held.envs.map(rowOf));
  const ready = `${length} ${length === 1 ? 'desktop is' : 'desktops are'} ready`;
  if (detach) {
    log.info(`${ready} and stay; dart-env down --run ${runId} removes them`);
    return code;
  }
  log.info(`${ready}; Ctrl-C removes them`);
  const stopBeating = toFile ? () => {} : beat(io, (record) => output.write(record));
  await stopped(io.signal);
  stopBeating();
  if (io.signal.reason instanceof ReaderGone) return code;
  await readerLeaves(io, (options.grace as number) * 1000);
  if (toFile) return code;
  for (const env of held.envs) await output.write({ ...env, state: 'stopped' });
  await output.write(summary());
  return code;
}

/** An address may hold a token: a table is for people to look at. */
function rowOf({ env_id, server_url }: Env): [string, string] {
  return [env_id, (server_url ?? '').replace(/\/\/[^/@]*@/, '//')];
}
