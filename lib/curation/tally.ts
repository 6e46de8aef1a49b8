/** What a curation did, in numbers; the summary record is made of it. */
export interface Tally {
  trajectories: number;
  rejectedTrajectories: Record<string, number>;
  groups: number;
  rejectedGroups: Record<string, number>;
  samples: number;
  /** Groups into which the pool put a success. */
  injected: number;
  unscoredTokens: number;
  stepsWithoutLogprobs: number;
  /** Steps whose log-probabilities are those of a sampler that cut or bent the distribution. */
  stepsWithSamplerBias: number;
}

/** All counts at 0. */
export function newTally(): Tally {
  return {
    trajectories: 0,
    rejectedTrajectories: {},
    groups: 0,
    rejectedGroups: {},
    samples: 0,
    injected: 0,
    unscoredTokens: 0,
    stepsWithoutLogprobs: 0,
    stepsWithSamplerBias: 0,
  };
}

/** Adds one to the count of `reason`. */
export function count(counts: Record<string, number>, reason: string): void {
  counts[reason] = (counts[reason] ?? 0) + 1;
}

/** `3 stale, 1 env_error`, most frequent first. */
export function listCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, number]) => `${number} ${reason}`)
    .join(', ');
}
