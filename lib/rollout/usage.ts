import { PartTimes, type PartUsage, sumOf } from './utilisation.ts';

/** What was held and used up to a moment: counters that only grow, so that two readings give any stretch between them. */
export interface UsageReading {
  /** Seconds since the beginning. */
  seconds: number;
  desktop_held_s: number;
  /** Desktop-seconds inside a live rollout: from the lease of the desktop, through reset, to the end of evaluation. */
  desktop_busy_s: number;
  worker_held_s: number;
  /** Worker-seconds with at least one request in flight. */
  worker_busy_s: number;
  /** Of trajectories that have ended. */
  trajectories: number;
  actions: number;
}

export interface Utilisation {
  env_utilisation: number;
  worker_utilisation: number;
  actions_per_minute: number;
  trajectories_per_minute: number;
}

interface Held {
  /** How many there are, those that are starting included. */
  desktops: () => number;
  /** Of those that run; without, each desktop is known from its first rollout on. */
  desktopIds?: () => readonly string[];
  workers: () => readonly { id: string; state: string }[];
  /** Milliseconds. */
  clock?: () => number;
}

/**
 * Measures how much of the desktops and the workers is used (docs/metrics.md). Told of each change, it adds up what lies
 * between, for each of them; the totals are the sums, and of desktops also those that are starting.
 */
export class Usage {
  readonly #held: Held;
  readonly #clock: () => number;
  readonly #began: number;
  readonly #desktops: PartTimes;
  readonly #workers: PartTimes;
  /** Desktops that are starting: held, and not used. */
  #starting = 0;
  #startingMs = 0;
  #startingSince: number;
  #ended = { trajectories: 0, actions: 0 };

  constructor(held: Held) {
    this.#held = held;
    this.#clock = held.clock ?? (() => performance.now());
    this.#began = this.#clock();
    this.#startingSince = this.#began;
    this.#desktops = new PartTimes(this.#clock);
    this.#workers = new PartTimes(this.#clock);
    this.#look();
  }

  /** Rollouts that are under way. */
  get rollouts(): number {
    return this.#desktops.used;
  }

  /** A rollout begins on a desktop, +1, or is over with it, −1. */
  desktop(change: 1 | -1, id: string): void {
    // Whatever has gone meanwhile is held no longer.
    if (change > 0) this.#hold();
    this.#desktops.use(id, change > 0);
    this.#count();
  }

  /** A worker has got a request, its only one, +1, or has none any more, −1. */
  worker(change: 1 | -1, id: string): void {
    this.#workers.use(id, change > 0);
  }

  /** A worker went down, or is back. */
  workersChanged(): void {
    const serving = this.#held.workers().filter(({ state }) => state !== 'out');
    this.#workers.hold(serving.map(({ id }) => id));
  }

  ended(actions: number): void {
    this.#ended.trajectories += 1;
    this.#ended.actions += actions;
  }

  read(): UsageReading {
    const { desktops, workers } = this.parts();
    const [desktop, worker] = [sumOf(desktops), sumOf(workers)];
    return {
      seconds: (this.#clock() - this.#began) / 1000,
      desktop_held_s: desktop.held_s + this.#startingMs / 1000,
      desktop_busy_s: desktop.busy_s,
      worker_held_s: worker.held_s,
      worker_busy_s: worker.busy_s,
      ...this.#ended,
    };
  }

  /** The same for each desktop that has run and each worker. */
  parts(): { desktops: PartUsage[]; workers: PartUsage[] } {
    this.#look();
    return { desktops: this.#desktops.read(), workers: this.#workers.read() };
  }

  #look(): void {
    this.#hold();
    this.#count();
    this.workersChanged();
  }

  #hold(): void {
    const { desktopIds } = this.#held;
    if (desktopIds) this.#desktops.hold(desktopIds());
  }

  #count(): void {
    const now = this.#clock();
    this.#startingMs += this.#starting * (now - this.#startingSince);
    this.#startingSince = now;
    this.#starting = Math.max(0, this.#held.desktops() - this.#desktops.held);
  }
}

const NOTHING: UsageReading = {
  seconds: 0,
  desktop_held_s: 0,
  desktop_busy_s: 0,
  worker_held_s: 0,
  worker_busy_s: 0,
  trajectories: 0,
  actions: 0,
};

/** Shares and rates between two readings. */
export function utilisation(to: UsageReading, from: UsageReading = NOTHING): Utilisation {
  const share = (used: number, held: number) => (held > 0 ? used / held : 0);
  const minutes = (to.seconds - from.seconds) / 60;
  return {
    env_utilisation: share(to.desktop_busy_s - from.desktop_busy_s, to.desktop_held_s - from.desktop_held_s),
    worker_utilisation: share(to.worker_busy_s - from.worker_busy_s, to.worker_held_s - from.worker_held_s),
    actions_per_minute: share(to.actions - from.actions, minutes),
    trajectories_per_minute: share(to.trajectories - from.trajectories, minutes),
  };
}
