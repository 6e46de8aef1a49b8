import type { Group } from './planner.ts';
import { type GroupSource, RolloutScheduler, type Scheduler, type WorkItem } from './scheduler.ts';

export interface BatchOptions {
  /** Groups of one batch. */
  groups: number;
  /**
   * Called between two batches, when nothing is running, with the groups of the last one: the moment at which all workers
   * change version together.
   */
  between: (groups: readonly Group[]) => Promise<void>;
}

/**
 * The coupled baseline (`--mode batch`): plan a batch, run it, wait for all of it, then the next. Desktops that are
 * done early stand idle; this is what rollout-wise scheduling is measured against.
 */
export class BatchScheduler implements Scheduler {
  readonly #source: GroupSource;
  readonly #options: BatchOptions;
  readonly #running = new Set<WorkItem>();
  #batch: Scheduler | null = null;
  #groups: readonly Group[] = [];
  #waiting = false;
  #idle: (() => void)[] = [];
  #last: Promise<unknown> = Promise.resolve();

  constructor(source: GroupSource, options: BatchOptions) {
    this.#source = source;
    this.#options = options;
  }

  next(): Promise<WorkItem | null> {
    const item = this.#last.then(() => this.#take());
    this.#last = item.catch(() => {});
    return item;
  }

  done(item: WorkItem): void {
    this.#running.delete(item);
    if (this.#running.size > 0) return;
    this.#waiting = false;
    for (const wake of this.#idle.splice(0)) wake();
  }

  get waiting(): boolean {
    return this.#waiting;
  }

  async #take(): Promise<WorkItem | null> {
    const item = (await this.#batch?.next()) ?? null;
    if (item) return this.#started(item);
    if (this.#running.size > 0) {
      this.#waiting = true;
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    }
    if (this.#batch) await this.#options.between(this.#groups);
    this.#batch = await this.#plan();
    const first = await this.#batch.next();
    return first && this.#started(first);
  }

  #started(item: WorkItem): WorkItem {
    this.#running.add(item);
    return item;
  }

  async #plan(): Promise<Scheduler> {
    const groups: Group[] = [];
    while (groups.length < this.#options.groups) {
      const group = await this.#source.next();
      if (!group) break;
      groups.push(group);
    }
    this.#groups = [...groups];
    const window = Math.max(1, groups.length);
    return new RolloutScheduler({ next: async () => groups.shift() ?? null }, window);
  }
}
