import { native } from './addon.ts';
import { checkInteger, checkNumber, checkPositive } from './check.ts';
import type { Device } from './device.ts';

/** One tensor, flat; all four arrays have its length. `parameter` and the moments are updated in place. */
export interface AdamwTensor {
  parameter: Float32Array;
  gradient: Float32Array;
  firstMoment: Float32Array;
  secondMoment: Float32Array;
  /** Of this tensor, when it differs (biases and norms usually take 0). */
  weightDecay?: number;
}

export interface AdamwInput {
  tensors: readonly AdamwTensor[];
  /** 1 on the first update. */
  step: number;
  learningRate: number;
  /** Default 0.9. */
  beta1?: number;
  /** Default 0.999. */
  beta2?: number;
  /** Default 1e-8. */
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

/** L2 norm over all gradients, summed in double, and the number of entries that are not finite. */
export function gradientNorm(gradients: readonly Float32Array[], device: Device = 'cpu') {
  const { addon, cudaLibrary } = native();
  const totals = new Float64Array(2);
  for (const gradient of gradients) addon.gradientNorm({ gradient, totals, device, cudaLibrary });
  return { norm: Math.sqrt(totals[0]!), nonfinite: totals[1]! };
}

/** One AdamW update (Loshchilov and Hutter 2019) of all tensors, with clipping by the global norm. */
export function adamw(input: AdamwInput): AdamwResult {
  const { addon, cudaLibrary } = native();
  const device = input.device ?? 'cpu';
  const constants = {
    step: checkInteger(input.step, 'step', 1),
    learningRate: checkNumber(input.learningRate, 'learningRate', 0),
    beta1: checkNumber(input.beta1 ?? 0.9, 'beta1', 0, 1 - Number.EPSILON),
    beta2: checkNumber(input.beta2 ?? 0.999, 'beta2', 0, 1 - Number.EPSILON),
    epsilon: checkNumber(input.epsilon ?? 1e-8, 'epsilon', 0),
  };
  const limit = input.maxGradNorm == null ? Infinity : checkPositive(input.maxGradNorm, 'maxGradNorm');
  const decays = input.tensors.map((tensor) =>
    checkNumber(tensor.weightDecay ?? input.weightDecay ?? 0, 'weightDecay', 0),
  );
  const { norm, nonfinite } = gradientNorm(
    input.tensors.map((tensor) => tensor.gradient),
    device,
  );
  if (nonfinite > 0) return { applied: false, gradNorm: norm, clipFactor: 0, nonfinite };
  const clipFactor = Math.min(1, limit / (norm + 1e-6));
  for (const [i, tensor] of input.tensors.entries()) {
    addon.adamw({ ...tensor, ...constants, weightDecay: decays[i], gradientScale: clipFactor, device, cudaLibrary });
  }
  return { applied: true, gradNorm: norm, clipFactor, nonfinite };
}
