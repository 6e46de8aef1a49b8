import type { Store } from '../store/index.ts';
import type { AnyRecord } from '../stream/records.ts';
import type { Curator } from './curator.ts';
import { lastFinish } from './group.ts';

/**
 * At the end of a run that another one will follow: closes only those incomplete groups whose members will not come any
 * more. That is told by the input, never by the clock, so that the same input gives the same bytes: the newest
 * trajectory finished `timeoutMs` after the last member, or the store says that nobody works on them. A group that the
 * store has closed already is waited for no longer either.
 */
export async function* closeRipe(
  curator: Curator,
  timeoutMs: number,
  newestBefore: number | null,
  store: Store | null,
): AsyncGenerator<AnyRecord, void, void> {
  const open = curator.openGroups;
  const ids = open.map((group) => group.group_id);
  // First who works on what, then what is stored: a rollout that ends in between is found stored.
  const abandoned = (await store?.abandonedGroups(ids)) ?? new Set();
  const stored = await store?.storedMembers(ids);
  const finished = await finishedWithoutWork(store, ids);
  const newest = Math.max(curator.newest, newestBefore ?? Number.NEGATIVE_INFINITY);
  for (const group of open) {
    const isOld = newest - lastFinish(group) >= timeoutMs;
    const isWhole = (stored?.get(group.group_id) ?? 0) <= group.members.size;
    const isOver = abandoned.has(group.group_id) || finished.has(group.group_id);
    if (isOld || (isOver && isWhole)) yield* curator.close(group);
  }
}

/** Groups that are closed for good, in which nobody is making a rollout any more. */
async function finishedWithoutWork(store: Store | null, ids: readonly string[]): Promise<Set<string>> {
  const finished = (await store?.finishedGroups(ids)) ?? new Set<string>();
  for (const id of finished) if ((await store!.liveWork(id)).length > 0) finished.delete(id);
  return finished;
}
