import { PartTimes, type PartUsage } from './utilisation.ts';

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
  desktops: () => number;
  /** Of those that run; without, each desktop is known from its first rollout on. */
  desktopIds?: () => readonly string[];
  workers: () => readonly { id: string; state: string }[];
  /** Milliseconds. */
  clock?: () => number;
}

/** Measures how much of the desktops and the workers is used. Told of each change, it adds up what lies between. */
export class Usage {
  readonly #held: Held;
  readonly #clock: () => number;
  readonly #began: number;
  #last: number;
  #busyDesktops = 0;
  #busyWorkers = 0;
  /** As counted last: counting at each request would cost more than the rest of scheduling. */
  #heldDesktops = 0;
  #heldWorkers = 0;
  readonly #sums = { desktop_held_s: 0, desktop_busy_s: 0, worker_held_s: 0, worker_busy_s: 0 };
  readonly #desktopTimes: PartTimes;
  readonly #workerTimes: PartTimes;
  #ended = { trajectories: 0, actions: 0 };

  constructor(held: Held) {
    this.#held = held;
    this.#clock = held.clock ?? (() => performance.now());
    this.#began = this.#clock();
    this.#last = this.#began;
    this.#desktopTimes = new PartTimes(this.#clock);
    this.#workerTimes = new PartTimes(this.#clock);
    this.#hold();
    this.#count();
  }

  /** A rollout begins on a desktop, +1, or is over with it, −1. */
  desktop(change: 1 | -1, id?: string): void {
    this.#advance();
    this.#busyDesktops += change;
    this.#count();
    if (id !== undefined) this.#desktopTimes.use(id, change > 0);
  }

  /** A worker has got a request, its only one, +1, or has none any more, −1. */
  worker(change: 1 | -1, id: string): void {
    this.#advance();
    this.#busyWorkers += change;
    this.#workerTimes.use(id, change > 0);
  }

  ended(actions: number): void {
    this.#ended.trajectories += 1;
    this.#ended.actions += actions;
  }

  read(): UsageReading {
    this.#advance();
    this.#count();
    return { seconds: (this.#last - this.#began) / 1000, ...this.#sums, ...this.#ended };
  }

  /** The same for each desktop and each worker that has a name. */
  parts(): { desktops: PartUsage[]; workers: PartUsage[] } {
    this.#hold();
    return { desktops: this.#desktopTimes.read(), workers: this.#workerTimes.read() };
  }

  #hold(): void {
    const { desktopIds, workers } = this.#held;
    if (desktopIds) this.#desktopTimes.hold(desktopIds());
    const serving = workers().filter(({ state }) => state !== 'out');
    this.#workerTimes.hold(serving.map(({ id }) => id));
  }

  #count(): void {
    this.#heldDesktops = this.#held.desktops();
    this.#heldWorkers = this.#held.workers().filter(({ state }) => state !== 'out').length;
  }

  #advance(): void {
    const now = this.#clock();
    const seconds = (now - this.#last) / 1000;
    this.#last = now;
    this.#sums.desktop_held_s += seconds * this.#heldDesktops;
    this.#sums.desktop_busy_s += seconds * this.#busyDesktops;
    this.#sums.worker_held_s += seconds * this.#heldWorkers;
    this.#sums.worker_busy_s += seconds * this.#busyWorkers;
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
