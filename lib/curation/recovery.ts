import type { Store } from '../store/index.ts';
import type { AnyRecord } from '../stream/records.ts';
import type { Curator } from './curator.ts';
import type { Decision } from './decide.ts';
import type { OpenGroup } from './group.ts';
import type { StoreLedger } from './ledger.ts';
import type { CurationOptions } from './options.ts';
import { isStale } from './staleness.ts';
import type { CurrentVersions } from './versions.ts';

export interface RecoveryParts {
  store: Store;
  ledger: StoreLedger;
  curator: Curator;
  versions: CurrentVersions;
  options: CurationOptions;
  /** The run whose groups are taken up before any of its trajectories comes; absent for all runs of the store. */
  runId?: string;
}

/**
 * What a restarted curate finds in the store (design §4): groups that were handed on and never learned from come again,
 * rollouts that were stored and never read take their place in their groups.
 */
export async function* recover(
  parts: RecoveryParts,
  runId: string,
  now: number,
): AsyncGenerator<AnyRecord, void, void> {
  yield* reclaim(parts, runId);
  yield* parts.curator.takeStored(await parts.store.openTrajectories(runId), now);
}

/**
 * Groups of a run, or without one of all runs, whose lease has run out; those that have become too old meanwhile are
 * given up, aloud.
 */
export async function* reclaim(parts: RecoveryParts, runId: string | undefined): AsyncGenerator<AnyRecord, void, void> {
  for (;;) {
    const decisions = await parts.ledger.unclaimed(runId);
    if (decisions.length === 0) return;
    for (const decision of decisions) {
      const current = await parts.versions.current(decision.run_id);
      if (isOutdated(decision, current, parts.options.maxStaleness)) {
        await parts.ledger.giveUp(decision, 'stale');
        yield parts.curator.giveUp(decision, 'stale');
      } else {
        yield* parts.curator.handOn(decision);
      }
    }
  }
}

/** Completes open groups with members that other processes have stored. */
export async function* complete(
  parts: RecoveryParts,
  groups: readonly OpenGroup[],
  now: number,
): AsyncGenerator<AnyRecord, void, void> {
  const stored = await parts.store.storedMembers(groups.map((group) => group.group_id));
  for (const group of groups) {
    if ((stored.get(group.group_id) ?? 0) <= group.members.size) continue;
    yield* parts.curator.takeStored(await parts.store.trajectoriesOfGroup(group.group_id), now);
  }
}

/**
 * How long a group that nobody is working on is left open: a rollout command that was started again takes up its
 * unfinished groups first.
 */
const ABANDONED_AFTER_MS = 15_000;

/**
 * Completes groups from the store, and closes those that nobody is working on any more: what they lack will not come
 * (its lease was given back, has run out, or belonged to a process that is gone).
 */
export async function* settleAbandoned(parts: RecoveryParts, now: number): AsyncGenerator<AnyRecord, void, void> {
  const { store, curator } = parts;
  // First who works on what, then what is stored: a rollout that ends in between is found stored.
  const abandoned = await store.abandonedGroups(curator.openGroups.map((group) => group.group_id));
  yield* complete(parts, curator.openGroups, now);
  for (const group of curator.openGroups) {
    const isIdle = now - group.touched >= ABANDONED_AFTER_MS;
    if (isIdle && abandoned.has(group.group_id)) yield* curator.close(group);
  }
}

/** Closes a group that has waited long enough, unless somebody still holds a lease on one of its rollouts. */
export async function* closeExpired(
  parts: RecoveryParts,
  group: OpenGroup,
  now: number,
): AsyncGenerator<AnyRecord, void, void> {
  yield* complete(parts, [group], now);
  const live = await parts.store.liveWork(group.group_id);
  if (live.some((index) => !group.members.has(index))) group.touched = now;
  else yield* parts.curator.close(group);
}

function isOutdated(decision: Decision, current: number | null, maxStaleness: number): boolean {
  return decision.members.some(({ trajectory, injected }) => !injected && isStale(trajectory, current, maxStaleness));
}
