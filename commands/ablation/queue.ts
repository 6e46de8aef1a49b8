import { existsSync } from 'node:fs';
import { makespan } from './makespan.ts';

/** A piece of work that leaves a file, and is not done again where the file is. */
export interface Job {
  title: string;
  /** Written whole, and last. */
  product: string;
  /** About how long it takes on two cores. */
  seconds: number;
  /** Jobs of one kind are quick or slow together: how long the ones took says how long the others will. */
  kind?: string;
  /** It takes no less, however quick those before it were: a training goes on for so many seconds. */
  atLeast?: number;
  /** A file that it begins with: it waits until that is there. */
  after?: string;
  /** Looks at what is there already: throws where it is of other settings. */
  check?: () => void | Promise<void>;
  run: (stop?: AbortSignal) => Promise<void>;
}

/** What a queue says of itself. */
export interface QueueEnd {
  done: number;
  skipped: number;
}

/** How a queue is worked off. */
interface QueueOptions {
  stop?: AbortSignal | undefined;
  /** Jobs at once (1). */
  lanes?: number;
  /** Milliseconds. */
  clock?: () => number;
}

/**
 * Does the jobs whose product is not there yet, in order, and says before each how much time is left: by the jobs' own
 * estimates, corrected by how long those of their kind took. Where one fails, those beside it are stopped.
 *
 * @throws what a job throws; what was done stays done
 */
export async function playJobs(
  jobs: readonly Job[],
  say: (line: string) => void,
  { stop, lanes = 1, clock = () => performance.now() }: QueueOptions = {},
): Promise<QueueEnd> {
  const missing: Job[] = [];
  for (const job of jobs) {
    if (existsSync(job.product)) await job.check?.();
    else missing.push(job);
  }
  const skipped = jobs.length - missing.length;
  if (skipped > 0) say(`${skipped} of ${jobs.length} pieces of work are done already`);
  const all = new AbortController();
  const end = () => all.abort(stop?.reason);
  if (stop?.aborted) end();
  stop?.addEventListener('abort', end, { once: true });
  const waiting = [...missing];
  const running = new Set<Promise<void>>();
  const begun = new Map<Job, number>();
  const paces = new Paces();

  const left = () =>
    makespan(
      waiting.map((job) => ({ ...job, seconds: paces.secondsOf(job) })),
      lanes,
      [...begun].map(([job, at]) => ({
        ...job,
        seconds: Math.max(0, paces.secondsOf(job) - (clock() - at) / 1000),
      })),
    );
  const play = async (job: Job) => {
    begun.set(job, clock());
    say(`${missing.length - waiting.length} of ${missing.length}: ${job.title}; ${spoken(left())} left`);
    await job.run(all.signal);
    paces.took(job, (clock() - begun.get(job)!) / 1000);
    begun.delete(job);
  };
  const lane = async () => {
    while (waiting.length > 0) {
      all.signal.throwIfAborted();
      const index = waiting.findIndex(({ after }) => after === undefined || existsSync(after));
      if (index >= 0) {
        const played = play(waiting.splice(index, 1)[0]!).finally(() => running.delete(played));
        running.add(played);
        await played;
      } else {
        if (running.size === 0) throw new Error(`nothing makes ${waiting[0]!.after}`);
        await Promise.race(running);
      }
    }
  };
  try {
    await Promise.all(
      Array.from({ length: lanes }, () =>
        lane().catch((error: unknown) => {
          all.abort(error);
          throw error;
        }),
      ),
    );
  } finally {
    await Promise.allSettled(running);
    stop?.removeEventListener('abort', end);
  }
  return { done: missing.length, skipped };
}

/** How long jobs of each kind take, measured by their own estimates. */
class Paces {
  readonly #kinds = new Map<string, { planned: number; taken: number }>();

  took({ kind = '', seconds }: Job, taken: number): void {
    const sum = this.#kinds.get(kind) ?? { planned: 0, taken: 0 };
    this.#kinds.set(kind, { planned: sum.planned + seconds, taken: sum.taken + taken });
  }

  secondsOf({ kind = '', seconds, atLeast = 0 }: Job): number {
    const sum = this.#kinds.get(kind);
    const pace = sum === undefined || sum.planned === 0 ? 1 : sum.taken / sum.planned;
    return Math.max(atLeast, seconds * pace);
  }
}

/** Seconds in words: `40 s`, `12 min`, `3 h 20 min`. */
export function spoken(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
