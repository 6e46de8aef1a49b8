/** What the policy kernels are given: types, and checks of everything that C++ does not check itself. */
import {
  checkApart,
  checkArray,
  checkFinite,
  checkIndices,
  checkOffsets,
  checkOptionalArray,
  isSame,
  overlaps,
} from './arrays.ts';
import { checkChoice, checkInteger, checkNumber, checkOptions, checkPositive, refuse } from './check.ts';
import { type Device, placeOf } from './device.ts';
import { type HalfPrecision, halfType } from './precision.ts';

/** f32, or 16 bits of the `precision` that the call names. */
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
  /** What logits and dlogits of 16 bits hold. Default `bf16`. */
  precision?: HalfPrecision;
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
  /** Of the sampling, from 1e-6 to 1e6; log-probabilities are taken at it. Default 1. */
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
  /**
   * Where the gradient goes: absent: a new array of the type of logits; null: nowhere; `logits` itself: in place. It has
   * no byte in common with any other array of the call.
   */
  dlogits?: Logits | null;
  /**
   * What a scored row with a NaN or +Infinity logit gets: `throw` (default) is a TypeError naming the row, after the
   * kernel ran (dlogits, also in place, are written by then); `count` leaves it, and an advantage that is not finite, to
   * `statistics.nonfinite`. So with a row whose loss or gradient leaves the range of the type that it is written in.
   */
  nonfinite?: 'throw' | 'count';
  /** Default `cpu`. */
  device?: Device;
}

const NONFINITE = ['throw', 'count'] as const;

const LOSS_OPTIONS: Record<keyof PolicyLossInput, true> = {
  logits: true,
  precision: true,
  vocabulary: true,
  stride: true,
  target: true,
  mask: true,
  scale: true,
  advantage: true,
  oldLogp: true,
  rolloutLogp: true,
  refLogp: true,
  sequenceOffsets: true,
  temperature: true,
  kind: true,
  clipLow: true,
  clipHigh: true,
  dualClip: true,
  tis: true,
  kl: true,
  entropyCoefficient: true,
  dlogits: true,
  nonfinite: true,
  device: true,
};

/** Within these 1 / T, and what it multiplies, stays in the range of f32 (native/kernels/validate.h). */
const TEMPERATURES = [1e-6, 1e6] as const;

function temperatureOf({ temperature = 1 }: { temperature?: number }): number {
  return checkNumber(temperature, 'temperature', ...TEMPERATURES);
}

function lossOptions(input: PolicyLossInput) {
  const { tis, kl } = input;
  // Absent is off; whatever else is not an object, 0 and '' too, is a mistake.
  if (tis != null) checkOptions(tis, 'tis', { cap: true, level: true, mode: true });
  if (kl != null) checkOptions(kl, 'kl', { beta: true, estimator: true });
  return {
    loss: checkChoice(input.kind ?? 'grpo', 'kind', LOSS_KINDS),
    temperature: temperatureOf(input),
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

type Shaped = Pick<
  PolicyLossInput,
  'logits' | 'precision' | 'vocabulary' | 'stride' | 'target' | 'nonfinite' | 'device'
>;

function matrixShape(input: Shaped) {
  const vocabulary = checkInteger(input.vocabulary, 'vocabulary', 1);
  const target = checkIndices(input.target, 'target', vocabulary, true);
  checkChoice(input.nonfinite ?? 'throw', 'nonfinite', NONFINITE);
  return {
    logits: input.logits,
    target,
    rows: target.length,
    vocabulary,
    stride: checkInteger(input.stride ?? vocabulary, 'stride', vocabulary),
    half: halfType(input.precision),
    ...placeOf(input.device),
  };
}

/** What each token brings along; scales and advantages of scored rows that are not finite are refused by index. */
function tokenArrays(input: PolicyLossInput) {
  const N = input.target.length;
  const optional = (name: 'advantage' | 'oldLogp' | 'rolloutLogp' | 'refLogp') =>
    checkOptionalArray(input[name], name, 'Float32Array', N);
  const mask = checkOptionalArray(input.mask, 'mask', 'Uint8Array', N);
  const scale = checkArray(input.scale, 'scale', 'Float32Array', N);
  const advantage = optional('advantage');
  const counts = (row: number) => input.target[row]! >= 0 && mask?.[row] !== 0;
  checkFinite(scale, 'scale', counts);
  if (advantage && input.nonfinite !== 'count') checkFinite(advantage, 'advantage', counts);
  const logps = { oldLogp: optional('oldLogp'), rolloutLogp: optional('rolloutLogp'), refLogp: optional('refLogp') };
  return { mask, scale, advantage, ...logps };
}

function sequencesOf(input: PolicyLossInput) {
  const { kind, tis, sequenceOffsets = null, target } = input;
  if (sequenceOffsets === null) {
    const needed = kind === 'gspo' ? "kind 'gspo'" : tis?.level === 'sequence' ? "tis.level 'sequence'" : null;
    if (needed !== null) refuse(`Int32Array (${needed} needs it)`, 'sequenceOffsets', input.sequenceOffsets);
    return { sequences: 0, sequenceOffsets };
  }
  return { sequences: checkOffsets(sequenceOffsets, 'sequenceOffsets', target.length), sequenceOffsets };
}

function dlogitsOf({ logits, dlogits }: PolicyLossInput): Logits | null {
  const views = ArrayBuffer.isView(logits) && ArrayBuffer.isView(dlogits);
  if (views && overlaps(logits, dlogits) && !isSame(logits, dlogits)) {
    refuse('logits itself, or memory apart from it,', 'dlogits', dlogits);
  }
  if (dlogits !== undefined) return dlogits;
  // Whatever else logits is, C++ names it.
  const length = ArrayBuffer.isView(logits) ? logits.length : 0;
  return logits instanceof Uint16Array ? new Uint16Array(length) : new Float32Array(length);
}

/** All inputs of `policyLoss` as C++ reads them, checked. */
export function policyLossArguments(input: PolicyLossInput) {
  checkOptions(input, 'the input of policyLoss', LOSS_OPTIONS);
  const args = {
    ...matrixShape(input),
    ...lossOptions(input),
    ...tokenArrays(input),
    ...sequencesOf(input),
    dlogits: dlogitsOf(input),
  };
  // In place, logits is the array that is written; it met dlogits before.
  checkApart(
    Object.entries(args).filter(([name]) => name !== 'logits'),
    (name) => name === 'dlogits',
  );
  return args;
}

export interface LogpEntropyInput {
  logits: Logits;
  /** What logits of 16 bits hold. Default `bf16`. */
  precision?: HalfPrecision;
  vocabulary: number;
  stride?: number;
  /** -1: only the entropy is wanted. */
  target: Int32Array;
  /** From 1e-6 to 1e6. Default 1. */
  temperature?: number;
  /** What a row with a NaN or +Infinity logit gets: `throw` (default) a TypeError naming it, `count` results of NaN. */
  nonfinite?: 'throw' | 'count';
  device?: Device;
}

const ENTROPY_OPTIONS: Record<keyof LogpEntropyInput, true> = {
  logits: true,
  precision: true,
  vocabulary: true,
  stride: true,
  target: true,
  temperature: true,
  nonfinite: true,
  device: true,
};

/** All inputs of `logpEntropy` as C++ reads them, checked. */
export function logpEntropyArguments(input: LogpEntropyInput) {
  checkOptions(input, 'the input of logpEntropy', ENTROPY_OPTIONS);
  return { ...matrixShape(input), temperature: temperatureOf(input) };
}
