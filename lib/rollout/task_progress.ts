import type { Trajectory } from '../stream/records.ts';

/** What is known of a task when its next group is planned. */
export interface Progress {
  /** Mean reward of the newest scored rollouts; null when none was scored. */
  successRate: number | null;
  /** Steps of the longest success so far. */
  longestSuccess: number | null;
}

/** What is looked at of a trajectory that just ended. */
export type Observed = Pick<Trajectory, 'task_id' | 'reward' | 'outcome'> & { steps: { length: number } };

/** Where progress comes from: the store, when several processes share the work. */
export interface ProgressSource {
  read(taskIds: readonly string[]): Promise<Map<string, Progress>>;
}

/** How long what the store said is taken as true. */
const FRESH_MS = 1000;
/** What the store said of one task. */
interface Answer {
  known: Promise<Map<string, Progress>>;
  /** When it was asked, by performance.now(). */
  at: number;
}

/**
 * Progress of tasks: from the store if there is one, asked at most once a second of each task, and of no other than
 * those that groups are planned of; else from what was observed.
 */
export class TaskProgress {
  readonly #answers = new Map<string, Answer>();
  readonly #window: number;
  readonly #source: ProgressSource | null;
  readonly #rewards = new Map<string, number[]>();
  readonly #longest = new Map<string, number>();

  /** @param window Scored rollouts that success rates are taken over. */
  constructor(window: number, source: ProgressSource | null = null) {
    this.#window = window;
    this.#source = source;
  }

  /** Takes account of a trajectory that just ended; errors say nothing of the task. */
  observe({ task_id, reward, outcome, steps }: Observed): void {
    if (reward === null) return;
    const rewards = [...(this.#rewards.get(task_id) ?? []), reward].slice(-this.#window);
    this.#rewards.set(task_id, rewards);
    if (outcome !== 'success') return;
    this.#longest.set(task_id, Math.max(this.#longest.get(task_id) ?? 0, steps.length));
  }

  async of(taskId: string): Promise<Progress> {
    if (!this.#source) return this.#observed(taskId);
    const now = performance.now();
    let answer = this.#answers.get(taskId);
    if (!answer || now - answer.at > FRESH_MS) {
      answer = { known: this.#source.read([taskId]), at: now };
      this.#answers.set(taskId, answer);
    }
    return (await answer.known).get(taskId) ?? { successRate: null, longestSuccess: null };
  }

  #observed(taskId: string): Progress {
    const rewards = this.#rewards.get(taskId) ?? [];
    const successRate = rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    return { successRate, longestSuccess: this.#longest.get(taskId) ?? null };
  }
}
