/** Where a desktop failed. */
export type FailureReason = 'boot' | 'setup' | 'rollout' | 'idle';

/** What has become of the desktops of a pool so far. */
export interface PoolCounts {
  /** Desktops that became ready. */
  booted: number;
  /** Of these: in the place of one that was used up or had failed. */
  replaced: number;
  /** Places given up: after repeated failures, or since a used desktop cannot be replaced. */
  retired: number;
  failures: Record<FailureReason, number>;
}

/** Nothing has happened yet. */
export function noCounts(): PoolCounts {
  return { booted: 0, replaced: 0, retired: 0, failures: { boot: 0, setup: 0, rollout: 0, idle: 0 } };
}
