import { DartError } from '../errors.ts';
import { type OpenedServer, openServers, type ServerSettings } from '../policy/openai/open.ts';
import { parseServerSpec } from '../policy/openai/server_spec.ts';
import { gpusOf, OwnedServer } from './spawn.ts';
import { ServerWorker, type UpdateWay } from './worker_server.ts';

/** What is asked of servers, from the command line. */
export interface RolloutServers extends ServerSettings {
  update?: UpdateWay;
  /** Start servers with this command instead of being given their addresses. */
  spawn?: string;
  /** `0,1,2`: one server on each. */
  gpus?: string;
  startTimeoutMs?: number;
  /** Published directory whose versions are loaded into the servers. */
  versions?: string;
  /** While no server answers, how long rollouts wait for one to come back. */
  patienceMs?: number;
  env?: Readonly<Record<string, string | undefined>>;
  log?: (line: string) => void;
  /** Ends the waiting for servers that are starting. */
  signal?: AbortSignal;
}

const START_TIMEOUT_MS = 600_000;

/**
 * The servers of `openai:…` or `sglang:…` as workers; with `spawn` they are started first, one on each GPU.
 * @throws DartError where none answers, one does not start, or the specification cannot be read.
 */
export async function openServerWorkers(spec: string, servers: RolloutServers): Promise<ServerWorker[]> {
  const read = parseServerSpec(spec);
  const { update, apiKey } = servers;
  if (update === 'restart' && servers.spawn === undefined) {
    throw new DartError('only servers that this command starts can be started again', {
      where: '--update',
      hint: '--spawn COMMAND',
    });
  }
  if (servers.spawn === undefined) return (await openServers(read, servers)).map((opened) => workerOf(opened));
  if (read.urls.length > 0) {
    throw new DartError('servers are either named or started', {
      where: '--spawn',
      hint: '--policy openai, without an address',
    });
  }
  const owned = await startAll(servers.spawn, read.model ?? servers.model, servers);
  try {
    const opened = await openServers({ ...read, urls: owned.map(({ url }) => url) }, servers);
    return opened.map((server, index) => workerOf(server, owned[index]));
  } catch (error) {
    await Promise.all(owned.map((server) => server.stop()));
    throw error;
  }

  function workerOf({ policy, engine, down }: OpenedServer, process: OwnedServer | null = null): ServerWorker {
    return new ServerWorker(policy, { engine, down, apiKey, update, owned: process });
  }
}

async function startAll(command: string, model: string | undefined, servers: RolloutServers): Promise<OwnedServer[]> {
  const { env = {}, log = () => {}, startTimeoutMs = START_TIMEOUT_MS, signal } = servers;
  const starting = gpusOf(servers.gpus, env).map((gpu, index) =>
    OwnedServer.start({ command, gpu, index, model, env, startTimeoutMs, log, signal }),
  );
  const ends = await Promise.allSettled(starting);
  const failed = ends.find((end) => end.status === 'rejected');
  const started = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  if (!failed) return started;
  await Promise.all(started.map((server) => server.stop()));
  throw failed.reason;
}
