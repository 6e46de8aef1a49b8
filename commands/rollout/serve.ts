import { readFile } from 'node:fs/promises';
import { resolvePath } from '../../lib/cli/input.ts';
import { type Log, logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { DartError, EXIT, messageOf } from '../../lib/errors.ts';
import { DamagedFile } from '../../lib/policy/network/published.ts';
import { splitPolicySpec } from '../../lib/policy/spec.ts';
import { openPolicies } from '../../lib/rollout/policies.ts';
import { PolicyService } from '../../lib/rollout/serve/service.ts';
import { checkedCommand } from '../../lib/rollout/spawn_command.ts';
import { followVersions, type VersionSource } from '../../lib/rollout/versions.ts';
import { WorkerPool } from '../../lib/rollout/worker_pool.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { isLoopback } from '../../lib/stream/loopback.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { serverSettings } from '../server_settings.ts';
import { policyPath } from './settings.ts';
import { tellOfStop } from './tell_stop.ts';
import { workersOf } from './workers.ts';

/** What needs more than a screen: an accessibility tree, or a memory of the episode. */
const NOT_SERVED = new Set(['script', 'replay']);

/** `dart-rollout serve`: opens the policy, listens until the command is stopped, and closes everything. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options } = context;
  const log = logOf(context);
  const token = await tokenOf(context);
  const spec = servable(policyPath(options.policy as string, io));
  const { workers, threads } = workersOf(context);
  const servers = {
    warn: (text: string) => log.warn(text),
    log: (line: string) => log.info(line),
    ...serverSettings(context),
  };
  if (options['dry-run'] === true && servers.spawn !== undefined) {
    checkedCommand(servers.spawn);
    log.info(`would start and serve ${spec}`);
    return EXIT.ok;
  }
  const output = await openOutput(context);
  const opened = await openPolicies(spec, workers, threads, servers);
  const { pool, begin } = poolOf(opened.policies, log, servers.patienceMs);
  try {
    if (options['dry-run'] === true) {
      log.info(`would serve ${pool.name}`);
      return EXIT.ok;
    }
    await toNewest(context, pool, opened.versions);
    begin();
    const service = await PolicyService.start({
      ...{
        pool,
        screen: opened.policies[0]!.screen,
        token,
        host: options.host as string,
        port: options.port as number,
      },
      ...{ updates: options.updates === true, maxRequests: options['max-requests'] as number },
      onError: (message) => log.warn(message),
    });
    const following = follow(context, pool, opened.versions, log);
    const { url } = service;
    await output.write({ type: 'event', v: SCHEMA_VERSION, event: 'listening', url: `${url}/v1`, model: pool.name });
    log.info(`${pool.name} at ${url}/v1; Ctrl-C ends it`);
    const grace = new AbortController();
    const quiet = tellOfStop(log, {
      ...{ signal: io.signal, abort: grace.signal, graceMs: (options.grace as number) * 1000 },
      ...{ underWay: () => service.requests, what: 'requests' },
    });
    await stopped(io.signal);
    await service.close((options.grace as number) * 1000, () => grace.abort());
    quiet();
    await following;
    const { answered, refused, failed, abandoned, tokens } = service.metrics;
    const command = 'dart-rollout serve';
    await output.write({ type: 'summary', v: SCHEMA_VERSION, command, answered, refused, failed, abandoned, tokens });
    return EXIT.ok;
  } finally {
    await pool.close();
  }
}

/** The token that requests must bear, or null. Throws a UsageError where others could reach the port without one. */
async function tokenOf({ io, options }: CommandContext): Promise<string | null> {
  const file = options.token as string | undefined;
  if (file === undefined) {
    if (isLoopback(options.host as string)) return null;
    throw new UsageError('other machines could use the policy', {
      where: '--host',
      hint: '--token FILE, or --host 127.0.0.1',
    });
  }
  const path = resolvePath(io, file);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw fileError(error, 'read the token', path);
  });
  if (text.trim() === '')
    throw new DartError('the token is empty', { where: path, hint: 'openssl rand -hex 32 > token.txt' });
  return text.trim();
}

function servable(spec: string): string {
  if (!NOT_SERVED.has(splitPolicySpec(spec).kind)) return spec;
  throw new DartError(`${spec} needs the desktop itself, and cannot be served`, {
    where: '--policy',
    hint: 'onnx:FILE',
  });
}

/** @returns the pool, and what is called once it is to answer: it throws the damage of a version that it was to load. */
function poolOf(policies: ConstructorParameters<typeof WorkerPool>[0], log: Log, patienceMs?: number) {
  let [begun, damage]: [boolean, DamagedFile | null] = [false, null];
  const told = new Set<string>();
  const pool = new WorkerPool(policies, {
    patienceMs,
    onFailure: (worker, error, out) => {
      if (out) log.warn(`policy worker ${worker} is out: ${messageOf(error)}`);
    },
    onBack: (worker) => log.warn(`policy worker ${worker} is back`),
    onSync: ({ worker_id, from_version, to_version, error, cause }) => {
      const change = `${worker_id}: version ${from_version} → ${to_version}`;
      if (error === undefined) log.info(change);
      else if (!begun && cause instanceof DamagedFile) damage = cause;
      // It is tried again and again.
      else if (!told.has(change)) log.warn(`${change} failed, the old one serves on: ${error}`);
      if (error !== undefined) told.add(change);
    },
  });
  const begin = () => {
    begun = true;
    if (damage) throw damage;
  };
  return { pool, begin };
}

/** The newest version of a published directory, before anybody is answered. */
async function toNewest({ options }: CommandContext, pool: WorkerPool, versions: VersionSource | null): Promise<void> {
  if (!versions || options.sync === 'off' || !pool.canLoad) return;
  const latest = await versions.latest();
  if (latest && latest.version > pool.oldestVersion) await pool.syncTogether(latest.version, latest.path);
}

/** Newer versions of a published directory as they come, until the command is stopped. */
async function follow({ io, options }: CommandContext, pool: WorkerPool, versions: VersionSource | null, log: Log) {
  if (!versions || options.sync === 'off' || !pool.canLoad) return;
  await followVersions(versions, {
    intervalMs: (options['sync-interval'] as number) * 1000,
    current: () => pool.oldestVersion,
    sync: (version, path) =>
      options.sync === 'global' ? pool.syncTogether(version, path) : pool.syncOneByOne(version, path),
    onError: (message) => log.warn(`no news of versions: ${message}`),
    signal: io.signal,
  });
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
