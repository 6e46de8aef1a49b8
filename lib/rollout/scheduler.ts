import type { Group } from './planner.ts';

/** One rollout to be done: a member of a group. */
export interface WorkItem {
  group: Group;
  rolloutIndex: number;
}

export interface Scheduler {
  /** The next item for a desktop that is free; null when there is no more work. */
  next(): Promise<WorkItem | null>;
  /** The item is over, whatever came of it. */
  done(item: WorkItem): void;
  /** Whether `next` waits for items that are under way. */
  readonly waiting: boolean;
}

export interface GroupSource {
  next(): Promise<Group | null>;
}

/** How many groups are open at once unless told otherwise: enough for two rounds of all desktops, and never just one. */
export function defaultWindow(desktops: number, rollouts: number): number {
  return Math.max(2, Math.ceil((2 * desktops) / rollouts));
}

/**
 * Rollout-wise scheduling (design §7): whenever a desktop asks, the next item starts; nothing waits for a group, a
 * task or a batch. The items of `window` open groups are interleaved, one of each in turn; a group that has no item
 * left makes room for the next one.
 */
export class RolloutScheduler implements Scheduler {
  readonly #groups: GroupSource;
  readonly #window: number;
  readonly waiting = false;
  readonly #open: { group: Group; next: number }[] = [];
  #turn = 0;
  #exhausted = false;
  /** Calls take turns, since planning a group may have to ask the store. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(groups: GroupSource, window: number) {
    this.#groups = groups;
    this.#window = window;
  }

  next(): Promise<WorkItem | null> {
    const item = this.#last.then(() => this.#take());
    this.#last = item.catch(() => {});
    return item;
  }

  done(): void {}

  async #take(): Promise<WorkItem | null> {
    while (!this.#exhausted && this.#open.length < this.#window) {
      const group = await this.#groups.next();
      if (!group) this.#exhausted = true;
      else if (group.members.length > 0) this.#open.push({ group, next: 0 });
    }
    if (this.#open.length === 0) return null;
    const entry = this.#open[this.#turn]!;
    const item = { group: entry.group, rolloutIndex: entry.group.members[entry.next]! };
    entry.next += 1;
    // When a group leaves, the one behind it moves up to its place and is next.
    if (entry.next === entry.group.members.length) this.#open.splice(this.#turn, 1);
    else this.#turn += 1;
    if (this.#turn >= this.#open.length) this.#turn = 0;
    return item;
  }
}
