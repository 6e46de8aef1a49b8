import type { AnyRecord, Trajectory } from '../stream/records.ts';
import { type Decision, decide } from './decide.ts';
import { successPassedOver } from './events.ts';
import { fitPool, type PassedOver, type Unfit } from './fit-pool.ts';
import { type CarriedGroup, isComplete, join, type OpenGroup, openGroup, usableMembers } from './group.ts';
import { Handover } from './handover.ts';
import type { GroupLedger } from './ledger.ts';
import type { CurationOptions } from './options.ts';
import { unusable } from './outcome.ts';
import type { ExperiencePool } from './pool.ts';
import type { GroupReason } from './reasons.ts';
import { Remembered } from './remembered.ts';
import type { Shelf } from './shelf.ts';
import { isStale } from './staleness.ts';
import { isExperience, type Scored } from './success.ts';
import type { Tally } from './tally.ts';
import type { CurrentVersions } from './versions.ts';

export interface CuratorParts {
  options: CurationOptions;
  pool: ExperiencePool;
  ledger: GroupLedger;
  versions: CurrentVersions;
  /** Whether a screenshot is there; where absent nobody looks. */
  hasScreenshot?: (sha256: string) => boolean;
  /** Bounds the memory of open groups; without it all of them stay in memory. */
  shelf?: Shelf;
}

/** Closed groups that the next run is told of. */
const REMEMBERED_NAMES = 10_000;

/**
 * Trajectories in, samples and events out. All rules are functions of their own; here is only their order and what has
 * to be remembered between two trajectories: the open groups and the names of the closed ones.
 */
export class Curator {
  readonly #parts: CuratorParts;
  readonly #handover: Handover;
  readonly #open = new Map<string, OpenGroup>();
  readonly #closed = new Remembered();
  /** All that came, to tell one that comes twice from one that comes too late. */
  readonly #seen = new Remembered();
  /** Read from the store before they came through the pipe. */
  readonly #ahead = new Remembered();
  #successes: Trajectory[] = [];
  #newest = Number.NEGATIVE_INFINITY;

  constructor(parts: CuratorParts) {
    this.#parts = parts;
    this.#handover = new Handover(parts.options.pool, (trajectory) => this.#missingScreenshot(trajectory) !== null);
  }

  get tally(): Tally {
    return this.#handover.tally;
  }

  /** Open groups, oldest first. */
  get openGroups(): OpenGroup[] {
    return [...this.#open.values()];
  }

  /** Takes up groups as an earlier run left them; nothing is said of their members again. */
  async restore(groups: readonly CarriedGroup[], closed: readonly string[]): Promise<void> {
    for (const name of closed) this.#closed.add(name);
    for (const { members, ...names } of groups) {
      const group: OpenGroup = { ...names, members: new Map(), touched: 0 };
      this.#open.set(group.group_id, group);
      for (const { rollout_index, ...member } of members) {
        group.members.set(rollout_index, member);
        this.#seen.add(member.trajectory.trajectory_id);
        if (member.unusable === null) await this.#parts.shelf?.hold(member);
      }
    }
  }

  /** The groups that are still open, for the next run, and the newest names of closed ones. Ends this curator. */
  async leave(): Promise<{ groups: CarriedGroup[]; closed: string[] }> {
    const groups: CarriedGroup[] = [];
    for (const { group_id, run_id, task_id, size, members } of this.#open.values()) {
      for (const member of members.values()) await this.#parts.shelf?.take(member);
      const list = [...members].map(([rollout_index, member]) => ({ rollout_index, ...member }));
      groups.push({ group_id, run_id, task_id, size, members: list });
    }
    return { groups, closed: this.#closed.newest(REMEMBERED_NAMES) };
  }

  /** When the newest trajectory so far had finished, milliseconds since 1970. */
  get newest(): number {
    return this.#newest;
  }

  /** @param now milliseconds on the clock that `expired` is measured on. */
  async *take(trajectories: readonly Trajectory[], now: number): AsyncGenerator<AnyRecord, void, void> {
    for (const trajectory of trajectories) {
      if (!this.#ahead.delete(trajectory.trajectory_id)) yield* this.#takeOne(trajectory, now);
    }
    await this.#flushSuccesses();
  }

  /** As `take`, for trajectories found in the store that may still come through the pipe. */
  async *takeStored(trajectories: readonly Trajectory[], now: number): AsyncGenerator<AnyRecord, void, void> {
    for (const trajectory of trajectories) {
      const group = this.#open.get(trajectory.group_id);
      if (this.#closed.has(trajectory.group_id) || isMember(group, trajectory)) continue;
      yield* this.#takeOne(trajectory, now);
      this.#ahead.add(trajectory.trajectory_id);
    }
    await this.#flushSuccesses();
  }

  /** Groups whose last member came `groupTimeoutMs` ago or earlier. */
  expired(now: number): OpenGroup[] {
    return this.openGroups.filter((group) => now - group.touched >= this.#parts.options.groupTimeoutMs);
  }

  /** Closes a group as it is: complete, timed out, or at the end of the input. */
  async *close(group: OpenGroup): AsyncGenerator<AnyRecord, void, void> {
    if (!this.#open.delete(group.group_id)) return;
    this.#closed.add(group.group_id);
    const { options, pool, ledger, shelf } = this.#parts;
    for (const member of group.members.values()) await shelf?.take(member);
    yield* this.#dropStale(group);
    await this.#flushSuccesses();
    const passedOver: PassedOver[] = [];
    const unfit: Unfit = (success) => (success.steps.length === 0 ? 'no_steps' : this.#missingScreenshot(success));
    const proposed = await decide(group, options, fitPool(pool, unfit, passedOver));
    for (const one of passedOver) yield successPassedOver(proposed, one);
    const settled = await ledger.settle(proposed);
    if ('skipped' in settled) yield this.#handover.reject(proposed, settled.skipped);
    else yield* this.handOn(settled.decision, usableMembers(group));
  }

  async *closeAll(): AsyncGenerator<AnyRecord, void, void> {
    for (const group of this.openGroups) yield* this.close(group);
  }

  /** See Handover.handOn. */
  *handOn(decision: Decision, usable: readonly Scored[] = []): Generator<AnyRecord, void, void> {
    this.#closed.add(decision.group_id);
    yield* this.#handover.handOn(decision, usable);
  }

  /** Notes that a decided group is not handed on, and says so. */
  giveUp(decision: Decision, reason: GroupReason): AnyRecord {
    this.#closed.add(decision.group_id);
    return this.#handover.reject(decision, reason);
  }

  async *#takeOne(trajectory: Trajectory, now: number): AsyncGenerator<AnyRecord, void, void> {
    this.tally.trajectories += 1;
    this.#parts.versions.trajectory(trajectory);
    this.#newest = Math.max(this.#newest, Date.parse(trajectory.finished_at));
    const missing = this.#missingScreenshot(trajectory);
    const unfit = unusable(trajectory) ?? missing;
    const isKept = this.#parts.options.pool !== 'off' && missing === null && isExperience(trajectory);
    if (isKept) this.#successes.push(trajectory);
    const again = this.#seen.has(trajectory.trajectory_id);
    this.#seen.add(trajectory.trajectory_id);
    if (this.#closed.has(trajectory.group_id)) {
      yield this.#handover.drop(trajectory, again ? 'duplicate' : 'late');
      return;
    }
    if (unfit !== null) yield this.#handover.drop(trajectory, unfit);
    if (trajectory.group_id === '') return;
    const group = this.#open.get(trajectory.group_id) ?? openGroup(trajectory, now);
    this.#open.set(trajectory.group_id, group);
    const joined = join(group, trajectory, unfit, now);
    if (joined !== 'joined' && unfit === null) yield this.#handover.drop(trajectory, joined);
    if (joined === 'joined' && unfit === null) await this.#hold(group, trajectory);
    if (isComplete(group)) yield* this.close(group);
  }

  /** Staleness is judged when a group closes: a member may have waited long for the others. */
  async *#dropStale(group: OpenGroup): AsyncGenerator<AnyRecord, void, void> {
    const current = await this.#parts.versions.current(group.run_id);
    for (const member of group.members.values()) {
      if (member.unusable !== null || !isStale(member.trajectory, current, this.#parts.options.maxStaleness)) continue;
      member.unusable = 'stale';
      yield this.#handover.drop(member.trajectory, 'stale');
    }
  }

  /** The pool is filled in batches, but always before it is asked, so that batches do not change what it answers. */
  async #flushSuccesses(): Promise<void> {
    if (this.#successes.length === 0) return;
    const successes = this.#successes;
    this.#successes = [];
    await this.#parts.pool.add(successes);
  }

  /** A group that this member completes is closed at once, so it need not be held. */
  async #hold(group: OpenGroup, trajectory: Trajectory): Promise<void> {
    if (isComplete(group)) return;
    await this.#parts.shelf?.hold(group.members.get(trajectory.rollout_index)!);
  }

  #missingScreenshot(trajectory: Trajectory): 'missing_screenshot' | null {
    const { hasScreenshot } = this.#parts;
    if (!hasScreenshot) return null;
    const all = trajectory.steps.every((step) => hasScreenshot(step.observation.screenshot.sha256));
    return all ? null : 'missing_screenshot';
  }
}

function isMember(group: OpenGroup | undefined, trajectory: Trajectory): boolean {
  return group?.members.get(trajectory.rollout_index)?.trajectory.trajectory_id === trajectory.trajectory_id;
}
