import { DartError } from '../errors.ts';

/**
 * The objective's settings and the three presets (design §9). Deviations from what the projects released:
 * 1. `dart` follows the paper (clip 0.2/0.28, β 0.1, lr 1e-6); the released script uses GSPO, clip 0.1/0.28, lr 1e-7
 *    (reference dart-and-arpo.md §1.4).
 * 2. `arpo` takes the mean over the tokens of the whole update, not of a micro-batch of one.
 */
export type Surrogate = 'grpo' | 'gspo' | 'cispo';
export type Aggregation = 'token-mean' | 'sequence-mean' | 'constant';
export type KlEstimator = 'k1' | 'k2' | 'k3';
export type TisLevel = 'token' | 'sequence';
export type TisMode = 'truncate' | 'mask';

export interface PolicyObjective {
  surrogate: Surrogate;
  clipLow: number;
  clipHigh: number;
  /** Lower bound of the loss at negative advantages, as a multiple of |A|; null is off. */
  dualClip: number | null;
  /** Cap C of the truncated importance weight; null switches the weight off (w = 1). */
  tisCap: number | null;
  tisLevel: TisLevel;
  tisMode: TisMode;
  klBeta: number;
  klEstimator: KlEstimator;
  entropyCoef: number;
  aggregation: Aggregation;
  /** Share of each group's steps that is kept, those of highest entropy; 1 keeps all. */
  keepEntropy: number;
}

/** What an update minimises. */
export type Objective =
  | { kind: 'policy'; policy: PolicyObjective }
  | { kind: 'sft' }
  | { kind: 'dpo'; beta: number }
  | { kind: 'kto'; beta: number; desirableWeight: number; undesirableWeight: number };

export interface Preset {
  objective: PolicyObjective;
  /** Learning rate for a 7B model. */
  lr7b: number;
  /** The columns of the table that other commands read: `dart-rollout`, `dart-eval`, `dart-curate`. */
  rollout: {
    temperature: number;
    evalTemperature: number;
    maxSteps: number;
    rollouts: number;
    dynamicRollouts: boolean;
    dynamicLength: boolean;
    pool: 'dart' | 'arpo' | null;
    taskSelection: boolean;
    /** Weight of the optional format reward, kept apart from the score; null where the preset has none. */
    formatReward: number | null;
  };
}

const PLAIN: PolicyObjective = {
  surrogate: 'grpo',
  clipLow: 0.2,
  clipHigh: 0.2,
  dualClip: null,
  tisCap: null,
  tisLevel: 'token',
  tisMode: 'truncate',
  klBeta: 0,
  klEstimator: 'k3',
  entropyCoef: 0,
  aggregation: 'token-mean',
  keepEntropy: 1,
};

export const PRESETS = {
  dart: {
    objective: { ...PLAIN, clipHigh: 0.28, tisCap: 1, klBeta: 0.1, aggregation: 'sequence-mean', keepEntropy: 0.8 },
    lr7b: 1e-6,
    rollout: {
      temperature: 1,
      evalTemperature: 1,
      maxSteps: 30,
      rollouts: 8,
      dynamicRollouts: true,
      dynamicLength: true,
      pool: 'dart',
      taskSelection: false,
      formatReward: null,
    },
  },
  arpo: {
    objective: { ...PLAIN, clipHigh: 0.3, dualClip: 3 },
    lr7b: 1e-6,
    rollout: {
      temperature: 1,
      evalTemperature: 0.6,
      maxSteps: 15,
      rollouts: 8,
      dynamicRollouts: false,
      dynamicLength: false,
      pool: 'arpo',
      taskSelection: true,
      formatReward: 0.5,
    },
  },
  grpo: {
    objective: PLAIN,
    lr7b: 1e-6,
    rollout: {
      temperature: 1,
      evalTemperature: 1,
      maxSteps: 30,
      rollouts: 8,
      dynamicRollouts: false,
      dynamicLength: false,
      pool: null,
      taskSelection: false,
      formatReward: null,
    },
  },
} as const satisfies Record<string, Preset>;

export type PresetName = keyof typeof PRESETS;

/**
 * What `--loss` lays over a preset (reference rl-systems.md §2): gspo's clips are 3e-4/4e-4, cispo caps the ratio at 5,
 * dr_grpo sums tokens over a constant, dapo is clip-higher with the mean over all tokens and without KL.
 */
export const LOSSES = {
  grpo: {},
  gspo: { surrogate: 'gspo', clipLow: 3e-4, clipHigh: 4e-4, aggregation: 'sequence-mean' },
  cispo: { surrogate: 'cispo', clipHigh: 4, aggregation: 'token-mean' },
  dr_grpo: { aggregation: 'constant' },
  dapo: { clipLow: 0.2, clipHigh: 0.28, aggregation: 'token-mean', klBeta: 0 },
} as const satisfies Record<string, Partial<PolicyObjective>>;

export type LossName = keyof typeof LOSSES;

/**
 * What the objective decides where no option says otherwise; `batch` is in steps, of dpo in pairs and of kto in episodes.
 * Learning rates fit the embedded policy (about 0.3 M weights; reference embedded-policy.md §c).
 */
export const OBJECTIVE_DEFAULTS = {
  grpo: { lr: 2e-4, batch: 256, publishEvery: 1 },
  sft: { lr: 1e-3, batch: 64, publishEvery: 0 },
  dpo: { lr: 1e-4, batch: 8, publishEvery: 0 },
  kto: { lr: 3e-5, batch: 16, publishEvery: 0 },
} as const;

export type ObjectiveName = keyof typeof OBJECTIVE_DEFAULTS;

/** True where the loss compares the policy with the one that training began with. */
export function needsReference(objective: Objective): boolean {
  return objective.kind === 'policy' ? objective.policy.klBeta > 0 : objective.kind !== 'sft';
}

/**
 * The settings of one run: preset, then `--loss`, then what was asked for by name. An undefined override keeps the
 * value below it. Throws a DartError that names the setting which makes no sense.
 */
export function resolveObjective(
  preset: PresetName,
  loss: LossName,
  overrides: { [K in keyof PolicyObjective]?: PolicyObjective[K] | undefined } = {},
): PolicyObjective {
  const given = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
  const objective: PolicyObjective = { ...PRESETS[preset].objective, ...LOSSES[loss], ...given };
  checkObjective(objective);
  return objective;
}

function checkObjective(objective: PolicyObjective): void {
  const refuse = (name: string, wanted: string, got: unknown) => {
    throw new DartError(`--${name} must be ${wanted}, not ${got}`);
  };
  const { clipLow, clipHigh, dualClip, tisCap, klBeta, entropyCoef, keepEntropy } = objective;
  if (!(clipLow >= 0 && clipLow <= 1)) refuse('clip-low', 'between 0 and 1', clipLow);
  if (!(clipHigh >= 0)) refuse('clip-high', '0 or more', clipHigh);
  if (dualClip !== null && !(dualClip > 1)) refuse('dual-clip', 'above 1', dualClip);
  if (tisCap !== null && !(tisCap > 0)) refuse('tis-cap', 'above 0', tisCap);
  if (!(klBeta >= 0)) refuse('kl-beta', '0 or more', klBeta);
  if (!(entropyCoef >= 0)) refuse('entropy-coef', '0 or more', entropyCoef);
  if (!(keepEntropy > 0 && keepEntropy <= 1)) refuse('keep-entropy', 'above 0 and at most 1', keepEntropy);
}
