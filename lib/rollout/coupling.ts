import { delay } from '../stream/timer.ts';
import type { Group } from './planner.ts';

/** So long after a new version the store must know of a group that it was learned from, or it is not told of them. */
const ACCOUNT_MS = 2000;

export interface CouplingOptions {
  /** How long to wait for the trainer, in all. */
  waitMs: number;
  /** How often to look. */
  intervalMs: number;
  /** Loads the newest version where there is a newer one; whether there was. */
  toLatest: () => Promise<boolean>;
  /** Of these groups those that are done with: learned from, or left out. Null: nobody keeps account of that. */
  settled: ((groupIds: readonly string[]) => Promise<ReadonlySet<string>>) | null;
  stop: AbortSignal;
}

export type CouplingEnd =
  | { state: 'coupled' | 'stopped' }
  /** The wait was over before a newer version came, or before all groups were done with. */
  | { state: 'late'; newer: boolean; unsettled: number };

/**
 * Between two batches of the coupled baseline: until the version learned from the whole last batch is loaded. Where the
 * store is told what becomes of groups, that is when each group of the batch is learned from or left out, in however
 * many updates; where it is not, when the first newer version is there.
 */
export async function awaitCoupling(groups: readonly Group[], options: CouplingOptions): Promise<CouplingEnd> {
  const { settled, stop } = options;
  const deadline = performance.now() + options.waitMs;
  const all = settled ? groups.map((group) => group.group_id) : [];
  let open = all;
  let newerAt = Number.POSITIVE_INFINITY;
  while (!stop.aborted) {
    // In this order: a version is published in the transaction that settles its groups.
    const done = settled && open.length > 0 ? await settled(open) : new Set<string>();
    if (await options.toLatest()) newerAt = Math.min(newerAt, performance.now());
    open = open.filter((id) => !done.has(id));
    const told = open.length < all.length || performance.now() < newerAt + ACCOUNT_MS;
    const newer = Number.isFinite(newerAt);
    if (newer && (open.length === 0 || !told)) return { state: 'coupled' };
    if (performance.now() >= deadline) return { state: 'late', newer, unsettled: open.length };
    await delay(options.intervalMs, stop).catch(() => {});
  }
  return { state: 'stopped' };
}
