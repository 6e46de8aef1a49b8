import { existsSync } from 'node:fs';

/** A piece of work that leaves a file, and is not done again where the file is. */
export interface Job {
  title: string;
  /** Written whole, and last. */
  product: string;
  /** About how long it takes on two cores. */
  seconds: number;
  /** A file that it begins with: it waits until that is there. */
  after?: string;
  /** Looks at what is there already: throws where it is of other settings. */
  check?: () => void;
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
 * estimates, corrected by how long those before took. Where one fails, those beside it are stopped.
 *
 * @throws what a job throws; what was done stays done
 */
export async function playJobs(
  jobs: readonly Job[],
  say: (line: string) => void,
  { stop, lanes = 1, clock = () => performance.now() }: QueueOptions = {},
): Promise<QueueEnd> {
  const missing = jobs.filter((job) => {
    if (!existsSync(job.product)) return true;
    job.check?.();
    return false;
  });
  const skipped = jobs.length - missing.length;
  if (skipped > 0) say(`${skipped} of ${jobs.length} pieces of work are done already`);
  const all = new AbortController();
  const end = () => all.abort(stop?.reason);
  if (stop?.aborted) end();
  stop?.addEventListener('abort', end, { once: true });
  const waiting = [...missing];
  const running = new Set<Promise<void>>();
  let left = missing.reduce((sum, job) => sum + job.seconds, 0);
  let [planned, taken] = [0, 0];

  const play = async (job: Job) => {
    const pace = planned > 0 ? taken / planned : 1;
    const number = missing.length - waiting.length;
    say(`${number} of ${missing.length}: ${job.title}; ${spoken((left * pace) / lanes)} left`);
    const began = clock();
    await job.run(all.signal);
    taken += (clock() - began) / 1000;
    planned += job.seconds;
    left -= job.seconds;
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

/** Seconds in words: `40 s`, `12 min`, `3 h 20 min`. */
export function spoken(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
