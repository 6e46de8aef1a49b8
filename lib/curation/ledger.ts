import type { Lease, LeasedGroup, Store } from '../store/index.ts';
import type { Trajectory } from '../stream/records.ts';
import { accepted, type Decision, rejected } from './decide.ts';
import type { Member } from './member.ts';
import type { CurationOptions } from './options.ts';
import type { GroupReason } from './reasons.ts';
import { isScored } from './success.ts';

/** The decision that stands, or why this process has nothing to do with the group. */
export type Settled = { decision: Decision } | { skipped: 'already_learned' | 'held_elsewhere' | 'handed_on' };

/** Makes decisions final: each group is decided once and handed on by one process. */
export interface GroupLedger {
  settle(decision: Decision): Promise<Settled>;
}

/** Without a store nobody else is asked. */
export const privateLedger: GroupLedger = {
  async settle(decision) {
    return { decision };
  },
};

/**
 * Decisions in the store. The first one stands: a second run over the same trajectories finds it and hands on the same
 * group, even though the pool has more in it by then. A group that was learned from is not handed on again, nor one
 * that another living process has handed on.
 */
export class StoreLedger implements GroupLedger {
  readonly #store: Store;
  readonly #lease: Lease;
  readonly #options: CurationOptions;
  /** Handed on by this process. */
  readonly #handedOn = new Set<string>();

  constructor(store: Store, lease: Lease, options: CurationOptions) {
    this.#store = store;
    this.#lease = lease;
    this.#options = options;
  }

  async settle(decision: Decision): Promise<Settled> {
    if (this.#handedOn.has(decision.group_id)) return { skipped: 'handed_on' };
    const isNew = await this.#store.insertGroup(rowsOf(decision), this.#lease);
    if (isNew) return this.#handOn(decision);
    const answer = await this.#store.leaseGroup(decision.group_id, this.#lease);
    if (answer.status === 'acknowledged') return { skipped: 'already_learned' };
    if (answer.status === 'rejected') return { decision: rejected(decision, answer.reason as GroupReason) };
    if (answer.status !== 'leased') return { skipped: 'held_elsewhere' };
    return this.#handOn(await this.#rebuild(answer.group));
  }

  /** Groups of a run (without one: of any) that were decided and are held by nobody: their process died, or their lease ran out. */
  async unclaimed(runId?: string): Promise<Decision[]> {
    const groups = await this.#store.leaseGroups(this.#lease, { run_id: runId });
    const decisions: Decision[] = [];
    for (const group of groups) {
      decisions.push(await this.#rebuild(group));
      this.#handedOn.add(group.group_id);
    }
    return decisions;
  }

  /** A decided group will not be learned from after all. */
  async giveUp(decision: Decision, reason: GroupReason): Promise<void> {
    await this.#store.acknowledge([decision.group_id], { reason });
  }

  #handOn(decision: Decision): Settled {
    this.#handedOn.add(decision.group_id);
    return { decision };
  }

  async #rebuild(group: LeasedGroup): Promise<Decision> {
    const members: Member[] = [];
    for (const member of group.members) {
      const trajectory: Trajectory | null = await this.#store.trajectory(member.trajectory_id);
      if (trajectory && isScored(trajectory)) members.push({ trajectory, injected: member.injected });
    }
    return accepted(group, members, this.#options);
  }
}

function rowsOf(decision: Decision) {
  return {
    group_id: decision.group_id,
    run_id: decision.run_id,
    task_id: decision.task_id,
    size: decision.size,
    reason: decision.reason ?? undefined,
    members: decision.members.map((member, position) => ({
      trajectory_id: member.trajectory.trajectory_id,
      position,
      reward: member.trajectory.reward,
      advantage: decision.advantages[position]!,
      injected: member.injected,
    })),
  };
}
