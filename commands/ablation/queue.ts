import { existsSync } from 'node:fs';

/** A piece of work that leaves a file, and is not done again where the file is. */
export interface Job {
  title: string;
  /** Written whole, and last. */
  product: string;
  /** About how long it takes on two cores. */
  seconds: number;
  /** Looks at what is there already: throws where it is of other settings. */
  check?: () => void;
  run: (stop?: AbortSignal) => Promise<void>;
}

/** What a queue says of itself. */
export interface QueueEnd {
  done: number;
  skipped: number;
}

/**
 * Does the jobs whose product is not there yet, one after another, and says before each how much time is left: by the
 * jobs' own estimates, corrected by how long those before took.
 *
 * @param clock milliseconds
 * @throws what a job throws; what was done stays done
 */
export async function playJobs(
  jobs: readonly Job[],
  say: (line: string) => void,
  stop?: AbortSignal,
  clock: () => number = () => performance.now(),
): Promise<QueueEnd> {
  const missing = jobs.filter((job) => {
    if (!existsSync(job.product)) return true;
    job.check?.();
    return false;
  });
  const skipped = jobs.length - missing.length;
  if (skipped > 0) say(`${skipped} of ${jobs.length} pieces of work are done already`);
  let left = missing.reduce((sum, job) => sum + job.seconds, 0);
  let [planned, taken] = [0, 0];
  for (const [index, job] of missing.entries()) {
    stop?.throwIfAborted();
    const pace = planned > 0 ? taken / planned : 1;
    say(`${index + 1} of ${missing.length}: ${job.title}; ${spoken(left * pace)} left`);
    const began = clock();
    await job.run(stop);
    taken += (clock() - began) / 1000;
    planned += job.seconds;
    left -= job.seconds;
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
