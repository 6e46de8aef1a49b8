import type { Trajectory } from '../stream/records.ts';
import type { ExperiencePool } from './pool.ts';

/** The experience pool of a run without a store: it is as old as the process. */
export class MemoryPool implements ExperiencePool {
  readonly #capacity: number;
  /** Oldest first. */
  readonly #successes = new Map<string, Trajectory[]>();

  /** @param capacity successes kept per task. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  async add(successes: readonly Trajectory[]): Promise<number> {
    let added = 0;
    for (const success of successes) {
      const kept = this.#successes.get(success.task_id) ?? [];
      if (kept.some((one) => one.trajectory_id === success.trajectory_id || isSameEpisode(one, success))) continue;
      kept.push(success);
      this.#successes.set(success.task_id, kept.slice(-this.#capacity));
      added += 1;
    }
    return added;
  }

  async newest(taskId: string): Promise<Trajectory | null> {
    return this.#successes.get(taskId)?.at(-1) ?? null;
  }

  async any(taskId: string, seed: number): Promise<Trajectory | null> {
    const kept = this.#successes.get(taskId) ?? [];
    return kept[seed % Math.max(1, kept.length)] ?? null;
  }
}

/** The same screens were seen and the same replies given. */
function isSameEpisode(a: Trajectory, b: Trajectory): boolean {
  if (a.steps.length !== b.steps.length) return false;
  return a.steps.every((step, index) => {
    const other = b.steps[index]!;
    return (
      step.observation.screenshot.sha256 === other.observation.screenshot.sha256 &&
      step.response.text === other.response.text
    );
  });
}
