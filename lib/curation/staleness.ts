import type { Trajectory } from '../stream/records.ts';

/** The oldest model version that acted in the trajectory: one that spans versions is as old as its oldest step. */
export function oldestVersion(trajectory: Trajectory): number {
  const versions = trajectory.steps.map((step) => step.model_version);
  if (versions.length === 0) return Math.min(...trajectory.policy.versions, Number.MAX_SAFE_INTEGER);
  return Math.min(...versions);
}

/** The newest model version that acted in the trajectory. */
export function newestVersion(trajectory: Trajectory): number {
  return Math.max(0, ...trajectory.policy.versions, ...trajectory.steps.map((step) => step.model_version));
}

/**
 * Staleness window (design §8.1): true when the trajectory's oldest version is more than `maxStaleness` versions behind
 * `current`. DART keeps the latest two checkpoints, a window of 1, but makes one every five minutes or more; where a
 * version is published after every update the window has to be wider. Without a known version nothing is stale.
 */
export function isStale(trajectory: Trajectory, current: number | null, maxStaleness: number): boolean {
  return current !== null && current - oldestVersion(trajectory) > maxStaleness;
}
