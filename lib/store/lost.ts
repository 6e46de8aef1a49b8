import { inTransaction, type StoreContext, slices } from './context.ts';
import { isDead } from './owner.ts';

/** The state of a worker or desktop whose process ended without a word. */
const LOST = 'lost';
/** States that a row stays in when its process is gone. */
const ENDED = ['stopped', 'failed', LOST];
/** A living process gives a sign of life each minute; what is silent for so long is gone, wherever it was. */
const SILENT_MS = 3_600_000;

/**
 * Marks the workers and desktops of processes that are no more (dead on this machine, or silent for an hour) as `lost`.
 * The time of their last sign of life stays.
 * @returns how many rows that were.
 */
export async function markLost(context: StoreContext): Promise<number> {
  const { db, now } = context;
  const before = now() - SILENT_MS;
  const workers = await db
    .selectFrom('worker')
    .select(['worker_id', 'updated_at'])
    .where('state', 'not in', ENDED)
    .execute();
  const desktops = await db
    .selectFrom('environment')
    .select(['owner', (eb) => eb.fn.max('updated_at').as('updated_at')])
    .where('state', 'not in', ENDED)
    // Stores of the first version did not say whose they are.
    .where('owner', '!=', '')
    .groupBy('owner')
    .execute();
  const isGone = (name: string, heard: number) => isDead(name) || heard < before;
  const ids = workers.filter((row) => isGone(row.worker_id, row.updated_at)).map((row) => row.worker_id);
  const owners = desktops.filter((row) => isGone(row.owner, Number(row.updated_at))).map((row) => row.owner);
  if (ids.length + owners.length === 0) return 0;
  return inTransaction(context, (inner) => mark(inner, ids.sort(), owners.sort()));
}

async function mark({ db }: StoreContext, ids: readonly string[], owners: readonly string[]): Promise<number> {
  let marked = 0;
  for (const part of slices(ids, 200)) {
    const query = db.updateTable('worker').set({ state: LOST }).where('worker_id', 'in', part);
    marked += Number((await query.where('state', 'not in', ENDED).executeTakeFirst()).numUpdatedRows);
  }
  for (const part of slices(owners, 200)) {
    const query = db.updateTable('environment').set({ state: LOST }).where('owner', 'in', part);
    marked += Number((await query.where('state', 'not in', ENDED).executeTakeFirst()).numUpdatedRows);
  }
  return marked;
}

/** A sign of life of these workers, and of the desktops that `owner` holds. */
export function showLife(context: StoreContext, workerIds: readonly string[], owner: string): Promise<void> {
  return inTransaction(context, async ({ db, now }) => {
    const updated_at = now();
    for (const part of slices([...workerIds].sort(), 200)) {
      const query = db.updateTable('worker').set({ updated_at }).where('worker_id', 'in', part);
      await query.where('state', 'not in', ENDED).execute();
    }
    const desktops = db.updateTable('environment').set({ updated_at }).where('owner', '=', owner);
    await desktops.where('state', 'not in', ENDED).execute();
  });
}
