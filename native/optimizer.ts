import { native } from './addon.ts';
import { checkApart, holdArrays } from './arrays.ts';
import { checkChoice, checkInteger, checkNumber, checkOptions, checkPositive, refuse } from './check.ts';
import { type Device, placeOf } from './device.ts';
import { type HalfPrecision, halfType } from './precision.ts';

const F32_MAX = 2 ** 128 - 2 ** 104;
/** The greatest f32 below 1: what is above it would be a beta of 1. */
const BETA_MAX = 1 - 2 ** -24;

/**
 * One tensor, flat; all its arrays have one length. Weights and moments are updated in place: they have no byte in common
 * with any other array of the call, of this tensor or of another.
 */
export interface AdamwTensor {
  /** f32, or bf16 as its 16 bits, rounded to nearest even. */
  parameter: Float32Array | Uint16Array;
  /** f32, or 16 bits of `precision`. */
  gradient: Float32Array | Uint16Array;
  firstMoment: Float32Array;
  secondMoment: Float32Array;
  /** f32 weights that bf16 ones are the rounding of: with them no update is lost to that rounding. */
  master?: Float32Array | null;
  /** What a gradient of 16 bits holds, and nothing else of the tensor. Default `bf16`. */
  precision?: HalfPrecision;
  /** What a parameter of 16 bits holds: always bf16. To be said where `precision` is f16, lest that be taken for it. */
  parameterPrecision?: 'bf16';
  /** Of this tensor, when it differs (biases and norms usually take 0). */
  weightDecay?: number;
}

export interface AdamwInput {
  tensors: readonly AdamwTensor[];
  /** 1 on the first update. */
  step: number;
  /** Within f32, as every number here. */
  learningRate: number;
  /** Default 0.9. Both betas are at most 1 - 2^-24, the greatest f32 below 1. */
  beta1?: number;
  /** Default 0.999. */
  beta2?: number;
  /** Above 0, also in f32. Default 1e-8. */
  epsilon?: number;
  /** Decoupled: p *= 1 - lr * weightDecay. Default 0. */
  weightDecay?: number;
  /** Gradients are multiplied by min(1, maxGradNorm / (norm + 1e-6)), norm over all tensors. Default: no clipping. */
  maxGradNorm?: number | null;
  device?: Device;
}

export interface AdamwResult {
  /** False when a gradient was NaN or infinite: nothing was changed. */
  applied: boolean;
  /** L2 norm over all tensors before clipping; NaN or Infinity when not applied. */
  gradNorm: number;
  clipFactor: number;
  /** How many gradient entries were NaN or infinite. */
  nonfinite: number;
}

/**
 * L2 norm over all gradients, summed in double, and the number of entries that are not finite.
 * @param precision What gradients of 16 bits hold.
 */
export function gradientNorm(
  gradients: readonly (Float32Array | Uint16Array)[],
  device: Device = 'cpu',
  precision: HalfPrecision = 'bf16',
): { norm: number; nonfinite: number } {
  if (!Array.isArray(gradients)) refuse('an array of arrays', 'gradients', gradients);
  const totals = new Float64Array(2);
  native().addon.gradientNorm({ gradients, half: halfType(precision), totals, ...placeOf(device) });
  return { norm: Math.sqrt(totals[0]!), nonfinite: totals[1]! };
}

const INPUT_OPTIONS: Record<keyof AdamwInput, true> = {
  tensors: true,
  step: true,
  learningRate: true,
  beta1: true,
  beta2: true,
  epsilon: true,
  weightDecay: true,
  maxGradNorm: true,
  device: true,
};
const TENSOR_OPTIONS: Record<keyof AdamwTensor, true> = {
  parameter: true,
  gradient: true,
  firstMoment: true,
  secondMoment: true,
  master: true,
  precision: true,
  parameterPrecision: true,
  weightDecay: true,
};

/** One AdamW update (Loshchilov and Hutter 2019) of all tensors, with clipping by the global norm. */
export function adamw(input: AdamwInput): AdamwResult {
  const { args, result } = prepare(input);
  native().addon.adamw(args);
  return result();
}

/**
 * `adamw` on a thread of its own: the event loop and libuv's threads stay free. The arrays are held, and must neither be
 * touched nor transferred, until the promise is settled. Calls run in the order of their making.
 */
export async function adamwAsync(input: AdamwInput): Promise<AdamwResult> {
  const { args, result, arrays } = prepare(input);
  const stillThere = holdArrays(arrays);
  await native().addon.adamw({ ...args, async: true });
  stillThere();
  return result();
}

function prepare(input: AdamwInput) {
  checkOptions(input, 'the input of adamw', INPUT_OPTIONS);
  if (!Array.isArray(input.tensors)) refuse('an array of tensors', 'tensors', input.tensors);
  const constants = {
    step: checkInteger(input.step, 'step', 1),
    learningRate: checkNumber(input.learningRate, 'learningRate', 0, F32_MAX),
    beta1: checkNumber(input.beta1 ?? 0.9, 'beta1', 0, BETA_MAX),
    beta2: checkNumber(input.beta2 ?? 0.999, 'beta2', 0, BETA_MAX),
    epsilon: epsilonOf(input),
    maxGradNorm: input.maxGradNorm == null ? Infinity : checkPositive(input.maxGradNorm, 'maxGradNorm'),
  };
  checkRate(constants.learningRate / (1 - constants.beta1 ** constants.step), 'learningRate', input.learningRate);
  const decay = checkNumber(input.weightDecay ?? 0, 'weightDecay', 0, F32_MAX);
  const tensors = input.tensors.map((tensor, i) =>
    prepareTensor(tensor, `tensors[${i}]`, { decay, rate: constants.learningRate }),
  );
  const totals = new Float64Array(2);
  const names = ['parameter', 'gradient', 'firstMoment', 'secondMoment', 'master'] as const;
  const arrays = tensors.flatMap((tensor, i) => names.map((name) => [`tensors[${i}].${name}`, tensor[name]] as const));
  checkApart(arrays, (name) => !name.endsWith('.gradient'));
  return {
    args: { ...constants, tensors, totals, ...placeOf(input.device) },
    arrays: Object.fromEntries(arrays),
    result: () => resultOf(totals, constants.maxGradNorm),
  };
}

/** 0 in f32 would be 0 / 0 where a gradient is 0. */
function epsilonOf({ epsilon = 1e-8 }: AdamwInput): number {
  const number = checkNumber(epsilon, 'epsilon', 0, F32_MAX);
  return Math.fround(number) > 0 ? number : refuse('a number that is above 0 in f32', 'epsilon', epsilon);
}

/** What a step multiplies by must be within f32. */
function checkRate(factor: number, name: string, value: unknown): void {
  if (!(Math.abs(factor) <= F32_MAX)) refuse('a number whose step is within f32', name, value);
}

function checkParameter({ parameter, master, precision, parameterPrecision }: AdamwTensor, name: string): void {
  if (master && !(parameter instanceof Uint16Array)) {
    refuse('Uint16Array (bf16), since there are master weights', `${name}.parameter`, parameter);
  }
  if (parameterPrecision != null) checkChoice(parameterPrecision, `${name}.parameterPrecision`, ['bf16']);
  else if (precision === 'f16' && parameter instanceof Uint16Array) {
    const expected = '"bf16" (weights of 16 bits are never f16, as precision says that the gradient is)';
    refuse(expected, `${name}.parameterPrecision`, parameterPrecision);
  }
}

function prepareTensor(tensor: AdamwTensor, name: string, { decay, rate }: { decay: number; rate: number }) {
  checkOptions(tensor, name, TENSOR_OPTIONS);
  const { parameter, gradient, firstMoment, secondMoment, master } = tensor;
  checkParameter(tensor, name);
  const weightDecay = checkNumber(tensor.weightDecay ?? decay, `${name}.weightDecay`, 0, F32_MAX);
  checkRate(1 - rate * weightDecay, tensor.weightDecay == null ? 'weightDecay' : `${name}.weightDecay`, weightDecay);
  return {
    parameter,
    gradient,
    firstMoment,
    secondMoment,
    master,
    half: halfType(tensor.precision, `${name}.precision`),
    weightDecay,
  };
}

function resultOf(totals: Float64Array, limit: number): AdamwResult {
  const gradNorm = Math.sqrt(totals[0]!);
  const nonfinite = totals[1]!;
  if (nonfinite > 0) return { applied: false, gradNorm, clipFactor: 0, nonfinite };
  return { applied: true, gradNorm, clipFactor: Math.min(1, limit / (gradNorm + 1e-6)), nonfinite };
}
