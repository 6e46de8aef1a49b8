import { DartError } from '../../errors.ts';
import type { Trajectory } from '../../stream/records.ts';
import type { Distribution } from './distribution.ts';
import type { Workload } from './workload.ts';

/** More values than this say nothing more of a distribution. */
const ENOUGH = 10_000;

/** Latencies as they were measured: of each kind up to 10,000 values, those that came first. */
export class Measured {
  readonly #steps: number[] = [];
  readonly #env: number[] = [];
  readonly #policy: number[] = [];
  readonly #rest: number[] = [];

  add({ steps, started_at, finished_at }: Pick<Trajectory, 'steps' | 'started_at' | 'finished_at'>): void {
    if (steps.length === 0) return;
    keep(this.#steps, steps.length);
    let within = 0;
    for (const { env_ms, policy_ms } of steps) {
      keep(this.#env, env_ms / 1000);
      keep(this.#policy, policy_ms / 1000);
      within += env_ms + policy_ms;
    }
    const whole = Date.parse(finished_at) - Date.parse(started_at);
    if (Number.isFinite(whole)) keep(this.#rest, Math.max(0, (whole - within) / 1000));
  }

  /**
   * The workload with what was measured in the place of what it states: steps of a rollout, a step in the desktop, a
   * request, and reset and evaluation together, as a reset (a trajectory does not tell them apart). A request's time was
   * measured under its load, so that it is not slowed down a second time.
   * @throws DartError where no trajectory has a step.
   */
  applied(workload: Workload, file: string): Workload {
    if (this.#steps.length === 0) throw new DartError('no trajectory with steps in it', { where: file });
    const source = `measured: ${this.#steps.length} trajectories`;
    const spread = (values: number[]) => ({ distribution: empirical(values), source });
    return {
      ...workload,
      steps: spread(this.#steps),
      max_steps: { value: Math.max(...this.#steps), source },
      latency: {
        ...workload.latency,
        reset: spread(this.#rest),
        step: spread(this.#env),
        inference: spread(this.#policy),
        evaluation: { distribution: { shape: 'constant', value: 0 }, source: `${source}, within reset` },
      },
      slowdown: { table: [[1, 1]], source: `${source}, under their load` },
    };
  }
}

function keep(values: number[], value: number): void {
  if (values.length < ENOUGH && Number.isFinite(value)) values.push(value);
}

function empirical(values: number[]): Distribution {
  return { shape: 'empirical', values: values.length > 0 ? values : [0] };
}
