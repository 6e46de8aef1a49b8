import { hash32 } from '../../stream/random.ts';
import { type Quantile, quantileOf } from './distribution.ts';
import type { Workload } from './workload.ts';

/** What becomes of one rollout. */
export interface RolloutPlan {
  /** Steps that it takes if nothing cuts it short. */
  steps: number;
  success: boolean;
}

/** A share in (0, 1) that is the same for the same text. */
export function shareOf(text: string): number {
  return (hash32(text) + 0.5) / 2 ** 32;
}

/** What a share of an update's or a load's distribution is taken from: the same in a simulation and in a real run. */
export const updateShare = (seed: number, version: number) => shareOf(`${seed}/update/${version}`);
export const loadShare = (seed: number, version: number, worker: number) =>
  shareOf(`${seed}/load/${version}/${worker}`);

/**
 * What becomes of each rollout, from its group and index alone: the same in a simulation, in a real run, and in either
 * mode. Every second rollout of a group succeeds, so that there is something to learn from each group.
 */
export class RolloutPlans {
  readonly #steps: Quantile;

  constructor(workload: Workload) {
    this.#steps = quantileOf(workload.steps.distribution);
  }

  /** @param groupId `run/task/counter`; the name of the run changes nothing. */
  of(groupId: string, rolloutIndex: number): RolloutPlan {
    const group = groupId.slice(groupId.indexOf('/') + 1);
    const steps = this.#steps(shareOf(`${group}/${rolloutIndex}`));
    return { steps: Math.max(1, Math.round(steps)), success: rolloutIndex % 2 === 0 };
  }
}
