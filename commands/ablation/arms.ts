/** One arm of the comparison: what it adds to the commands of every arm, and nothing else. */
export interface Arm {
  /** Name of its folder. */
  name: string;
  /** Name in the table. */
  label: string;
  /** The arm that it is compared with, besides the baseline; null for the baseline itself. */
  against: string | null;
  rollout: readonly string[];
  curate: readonly string[];
  train: readonly string[];
  /**
   * What expert demonstrations do before the training, if anything: they fill the experience pool, or the base policy
   * imitates them. Neither may be credited to reinforcement learning.
   */
  experts?: 'pool' | 'imitation';
  /** Pass@1 on 45 tasks of this rung in DART's table (arXiv 2509.23866), in percent. */
  paper?: number;
}

/** The five ideas; each rung of the ladder turns one more on. */
const OFF = {
  number: ['--no-dynamic-rollouts'],
  length: ['--no-dynamic-length'],
  entropy: ['--keep-entropy', '1'],
  tis: ['--no-tis'],
  pool: ['--no-pool'],
} as const;

/**
 * Weights are published only every 16 updates, so that rollouts are 8 updates behind on average, what is in the pipe not
 * counted; nothing is left out for its age.
 */
const STALE = { curate: ['--max-staleness', '64'], train: ['--publish-every', '16'] } as const;

const FULL = { rollout: [], curate: [], train: [] } as const;

/** Every arm. The pool of `full` holds what the run itself has collected; `expert-pool` is an arm of its own. */
export const ARMS: readonly Arm[] = [
  {
    name: 'baseline',
    label: 'decoupled baseline',
    against: null,
    rollout: [...OFF.number, ...OFF.length],
    curate: OFF.pool,
    train: [...OFF.entropy, ...OFF.tis],
    paper: 28.67,
  },
  {
    name: 'rollout-number',
    label: '+ dynamic rollout number',
    against: 'baseline',
    rollout: OFF.length,
    curate: OFF.pool,
    train: [...OFF.entropy, ...OFF.tis],
    paper: 50.9,
  },
  {
    name: 'length',
    label: '+ dynamic length',
    against: 'rollout-number',
    rollout: [],
    curate: OFF.pool,
    train: [...OFF.entropy, ...OFF.tis],
    paper: 66.11,
  },
  {
    name: 'entropy',
    label: '+ high-entropy steps',
    against: 'length',
    rollout: [],
    curate: OFF.pool,
    train: OFF.tis,
    paper: 68.33,
  },
  {
    name: 'tis',
    label: '+ distribution alignment (TIS)',
    against: 'entropy',
    rollout: [],
    curate: OFF.pool,
    train: [],
    paper: 70.55,
  },
  { name: 'full', label: 'full: + experience pool, self-collected', against: 'tis', ...FULL, paper: 72.28 },
  { name: 'stale-tis', label: 'full, stale by 8 updates', against: 'full', rollout: [], ...STALE },
  {
    name: 'stale-no-tis',
    label: 'full without TIS, stale by 8 updates',
    against: 'stale-tis',
    rollout: [],
    curate: STALE.curate,
    train: [...STALE.train, ...OFF.tis],
  },
  { name: 'expert-pool', label: 'full, pool filled by experts', against: 'full', ...FULL, experts: 'pool' },
  {
    name: 'expert-imitation',
    label: 'baseline after imitating the same experts',
    against: 'expert-pool',
    rollout: [...OFF.number, ...OFF.length],
    curate: OFF.pool,
    train: [...OFF.entropy, ...OFF.tis],
    experts: 'imitation',
  },
];

/** The names of the rungs, lowest first. */
export const LADDER = ['baseline', 'rollout-number', 'length', 'entropy', 'tis', 'full'] as const;

/** The arm of this name. */
export function armNamed(name: string, arms: readonly Arm[] = ARMS): Arm | null {
  return arms.find((arm) => arm.name === name) ?? null;
}
