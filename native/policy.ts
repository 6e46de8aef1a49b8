import { native } from './addon.ts';
import { checkChoice, checkIndices, checkInteger, checkNumber, checkOffsets, checkPositive } from './check.ts';
import type { Device } from './device.ts';
import { type PolicyStatistics, statisticsFrom, statisticsLength } from './statistics.ts';

/** f32, or bf16 as its 16 bits. */
export type Logits = Float32Array | Uint16Array;

export const LOSS_KINDS = ['grpo', 'gspo', 'cispo', 'sft'] as const;
export type LossKind = (typeof LOSS_KINDS)[number];
const KL_ESTIMATORS = ['k1', 'k2', 'k3'] as const;
const LEVELS = ['token', 'sequence'] as const;
const TIS_MODES = ['truncate', 'mask'] as const;

export interface ImportanceSampling {
  /** C: greatest weight. */
  cap: number;
  /** `sequence`: the geometric mean over a sequence's scored tokens. Default `token`. */
  level?: (typeof LEVELS)[number];
  /** What happens above the cap by more than rounding (1e-4 of it): the cap, or 0. Default `truncate`. */
  mode?: (typeof TIS_MODES)[number];
}

export interface ReferenceKl {
  beta: number;
  /** Default `k3`. */
  estimator?: (typeof KL_ESTIMATORS)[number];
}

/** N = target.length tokens, V = vocabulary. Per-token arrays have length N. */
export interface PolicyLossInput {
  /** [N, V] row-major, rows `stride` elements apart. -inf entries are excluded: no mass, no gradient. */
  logits: Logits;
  vocabulary: number;
  /** Elements between rows of logits and of dlogits; default V. */
  stride?: number;
  /** Token ids; -1 ignores the row. */
  target: Int32Array;
  /** 0 ignores the row. */
  mask?: Uint8Array | null;
  /** The token's share of the mean: loss = sum of scale * token loss. */
  scale: Float32Array;
  /** Default 1 everywhere; for `sft` it is the weight of the token. */
  advantage?: Float32Array | null;
  /** Log-probabilities at the start of the update; absent: the current policy (ratio 1). */
  oldLogp?: Float32Array | null;
  /** Log-probabilities of the policy that sampled; NaN is an unscored token, weight 1. */
  rolloutLogp?: Float32Array | null;
  /** Log-probabilities of the frozen reference. */
  refLogp?: Float32Array | null;
  /** [sequences + 1], from 0 to N; needed by `gspo` and by weights of level `sequence`. */
  sequenceOffsets?: Int32Array | null;
  /** Of the sampling; log-probabilities are taken at it. Default 1. */
  temperature?: number;
  /** Default `grpo`. */
  kind?: LossKind;
  /** Default 0.2. */
  clipLow?: number;
  /** Default 0.28. For `cispo` the cap is 1 + clipHigh. */
  clipHigh?: number;
  /** Ceiling of the loss at -dualClip * A where A < 0; default off. */
  dualClip?: number | null;
  /** Truncated importance sampling; default off. */
  tis?: ImportanceSampling | null;
  /** Default off. */
  kl?: ReferenceKl | null;
  /** c of -c * H; default 0. */
  entropyCoefficient?: number;
  /** Where the gradient goes: absent: a new array of the type of logits; null: nowhere; `logits` itself: in place. */
  dlogits?: Logits | null;
  /** Default `cpu`. */
  device?: Device;
}

export interface PolicyLossResult {
  /** Per token; 0 on ignored rows, and logp -inf where the target was an excluded entry. */
  logp: Float32Array;
  /** Nats, exact, at the sampling temperature. */
  entropy: Float32Array;
  ratio: Float32Array;
  /** Importance weight. */
  weight: Float32Array;
  /** Before scale. */
  tokenLoss: Float32Array;
  /** d loss / d logits; rows without loss are exactly 0. */
  dlogits: Logits | null;
  /** Sums over the scored tokens; `summarise` makes means of them. */
  statistics: PolicyStatistics;
}

function dlogitsOf(input: PolicyLossInput): Logits | null {
  if (input.dlogits !== undefined) return input.dlogits;
  return input.logits instanceof Uint16Array
    ? new Uint16Array(input.logits.length)
    : new Float32Array(input.logits.length);
}

function lossOptions(input: PolicyLossInput) {
  const { tis, kl } = input;
  return {
    loss: checkChoice(input.kind ?? 'grpo', 'kind', LOSS_KINDS),
    temperature: checkPositive(input.temperature ?? 1, 'temperature'),
    clipLow: checkNumber(input.clipLow ?? 0.2, 'clipLow', 0),
    clipHigh: checkNumber(input.clipHigh ?? 0.28, 'clipHigh', 0),
    dualClip: input.dualClip == null ? 0 : checkPositive(input.dualClip, 'dualClip'),
    tisCap: tis ? checkPositive(tis.cap, 'tis.cap') : 0,
    tisLevel: checkChoice(tis?.level ?? 'token', 'tis.level', LEVELS),
    tisMode: checkChoice(tis?.mode ?? 'truncate', 'tis.mode', TIS_MODES),
    klBeta: kl ? checkNumber(kl.beta, 'kl.beta', 0) : 0,
    klEstimator: 1 + checkChoice(kl?.estimator ?? 'k3', 'kl.estimator', KL_ESTIMATORS),
    entropyCoefficient: checkNumber(input.entropyCoefficient ?? 0, 'entropyCoefficient'),
  };
}

function matrixShape(input: { vocabulary: number; stride?: number; target: Int32Array; device?: Device }) {
  const vocabulary = checkInteger(input.vocabulary, 'vocabulary', 1);
  checkIndices(input.target, 'target', vocabulary, true);
  return {
    rows: input.target.length,
    vocabulary,
    stride: checkInteger(input.stride ?? vocabulary, 'stride', vocabulary),
    device: input.device ?? 'cpu',
    cudaLibrary: native().cudaLibrary,
  };
}

/**
 * Fused policy loss of N tokens: log-probability, entropy, loss and d loss / d logits (design §9; formulas in
 * native/kernels/policy_math.h). Throws a TypeError for arguments that do not fit.
 */
export function policyLoss(input: PolicyLossInput): PolicyLossResult {
  const shape = matrixShape(input);
  const offsets = input.sequenceOffsets ?? null;
  const perToken = () => new Float32Array(shape.rows);
  const out = {
    logp: perToken(),
    entropy: perToken(),
    ratio: perToken(),
    weight: perToken(),
    tokenLoss: perToken(),
    dlogits: dlogitsOf(input),
  };
  const sums = new Float64Array(statisticsLength);
  native().addon.policyLoss({
    ...shape,
    ...lossOptions(input),
    ...out,
    statistics: sums,
    logits: input.logits,
    target: input.target,
    mask: input.mask,
    scale: input.scale,
    advantage: input.advantage,
    oldLogp: input.oldLogp,
    rolloutLogp: input.rolloutLogp,
    refLogp: input.refLogp,
    sequences: offsets ? checkOffsets(offsets, 'sequenceOffsets', shape.rows) : 0,
    sequenceOffsets: offsets,
  });
  return { ...out, statistics: statisticsFrom(sums) };
}

export interface LogpEntropyInput {
  logits: Logits;
  vocabulary: number;
  stride?: number;
  /** -1: only the entropy is wanted. */
  target: Int32Array;
  temperature?: number;
  device?: Device;
}

/** Log-probability of each target (-inf for an excluded entry, 0 for target -1) and entropy of each row, in nats. */
export function logpEntropy(input: LogpEntropyInput): { logp: Float32Array; entropy: Float32Array } {
  const shape = matrixShape(input);
  const out = { logp: new Float32Array(shape.rows), entropy: new Float32Array(shape.rows) };
  const temperature = checkPositive(input.temperature ?? 1, 'temperature');
  native().addon.logpEntropy({ ...shape, ...out, temperature, logits: input.logits, target: input.target });
  return out;
}
