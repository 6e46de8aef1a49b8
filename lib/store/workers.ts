import type { Env } from '../stream/records.ts';
import { inTransaction, type StoreContext } from './context.ts';
import { ensureRuns } from './parents.ts';

export interface WorkerState {
  worker_id: string;
  run_id: string;
  policy: string;
  endpoint?: string | null;
  /** `serving`, `draining`, `loading`, `stopped`, … */
  state: string;
  version: number | null;
}

/** Stores the present state of a policy worker. */
export async function upsertWorker(context: StoreContext, worker: WorkerState): Promise<void> {
  await inTransaction(context, async (inner) => {
    const { db, dialect, now } = inner;
    await ensureRuns(inner, [worker.run_id]);
    const row = { ...worker, endpoint: worker.endpoint ?? null, updated_at: now() };
    const columns = ['run_id', 'policy', 'endpoint', 'state', 'version', 'updated_at'] as const;
    await dialect.overwriteDuplicates(db.insertInto('worker').values(row), ['worker_id'], columns).execute();
  });
}

export interface SyncStart {
  worker_id: string;
  from_version: number | null;
  to_version: number;
}

/** Notes that a worker begins to change versions; @returns the id for `finishSync`. */
export async function startSync({ db, now }: StoreContext, sync: SyncStart): Promise<number> {
  const result = await db
    .insertInto('worker_sync')
    .values({ ...sync, started_at: now() })
    .executeTakeFirstOrThrow();
  return Number(result.insertId);
}

export interface SyncEnd {
  /** Waiting for the requests in flight. */
  drain_ms: number;
  load_ms: number;
  error?: string;
}

/** Notes how a change of versions ended and how long it took. */
export async function finishSync({ db, now }: StoreContext, syncId: number, end: SyncEnd): Promise<void> {
  await db
    .updateTable('worker_sync')
    .set({ drain_ms: end.drain_ms, load_ms: end.load_ms, error: end.error ?? null, finished_at: now() })
    .where('sync_id', '=', syncId)
    .execute();
}

export interface DesktopState {
  run_id: string;
  /** The process that holds it: names of desktops are its own. */
  owner: string;
  env: Env;
  failures: number;
}

/** Stores the present state of a desktop. */
export async function upsertEnvironment(context: StoreContext, desktop: DesktopState): Promise<void> {
  const { run_id, owner, env, failures } = desktop;
  await inTransaction(context, async (inner) => {
    const { db, dialect, now } = inner;
    await ensureRuns(inner, [run_id]);
    const row = {
      run_id,
      owner,
      env_id: env.env_id,
      driver: env.driver,
      state: env.state,
      server_url: env.server_url,
      screen_width: env.screen.width,
      screen_height: env.screen.height,
      boot_ms: env.boot_ms,
      failures,
      updated_at: now(),
    };
    const columns = ['state', 'server_url', 'boot_ms', 'failures', 'updated_at'] as const;
    await dialect
      .overwriteDuplicates(db.insertInto('environment').values(row), ['run_id', 'owner', 'env_id'], columns)
      .execute();
  });
}
