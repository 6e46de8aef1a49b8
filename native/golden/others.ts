import type { Device } from '../device.ts';
import { adamw } from '../optimizer.ts';
import { dpo, kto } from '../preference.ts';
import { selectSteps, stepEntropy } from '../steps.ts';
import { compareArray, type Difference } from './compare.ts';

/** f32 arithmetic on numbers of magnitude 1: a few roundings. The files name no tolerance for these operations. */
const F32 = 2 ** -20;
/** Double arithmetic. */
const F64 = 1e-12;

export interface SelectionCase {
  keep_fraction: number;
  token_entropy: number[];
  token_mask: number[];
  step_offsets: number[];
  step_group: number[];
  want: { step_entropy: number[]; threshold: Record<string, number>; selected: number[] };
}

/** Differences of step entropies, thresholds and chosen steps from the golden ones. */
export function checkSelectionCase(c: SelectionCase, device: Device): Record<string, Difference> {
  const groups = Math.max(...c.step_group) + 1;
  const entropy = stepEntropy({
    tokenEntropy: Float32Array.from(c.token_entropy),
    mask: Uint8Array.from(c.token_mask),
    stepOffsets: Int32Array.from(c.step_offsets),
    device,
  });
  const stepGroup = Int32Array.from(c.step_group);
  const chosen = selectSteps({ stepEntropy: entropy, stepGroup, groups, keep: c.keep_fraction, device });
  // A group none of whose steps has an entropy has no threshold.
  const threshold = Array.from({ length: groups }, (_, group) => c.want.threshold[group] ?? null);
  return {
    step_entropy: compareArray(entropy, c.want.step_entropy, F32),
    threshold: compareArray(chosen.threshold, threshold, F32),
    selected: compareArray(chosen.selected, c.want.selected, Number.MIN_VALUE),
  };
}

export interface AdamwCase {
  lr: number;
  beta1: number;
  beta2: number;
  eps: number;
  weight_decay: number;
  max_grad_norm: number;
  start: number[];
  steps: { grad: number[]; grad_norm: number; want: number[] }[];
}

/** All steps one after the other: an error of one would show in the next. */
export function checkAdamwCase(c: AdamwCase, device: Device): Record<string, Difference> {
  const parameter = Float32Array.from(c.start);
  const state = { firstMoment: new Float32Array(parameter.length), secondMoment: new Float32Array(parameter.length) };
  const entries = c.steps.flatMap(({ grad, grad_norm, want }, i) => {
    const { gradNorm } = adamw({
      tensors: [{ parameter, gradient: Float32Array.from(grad), ...state }],
      step: i + 1,
      learningRate: c.lr,
      beta1: c.beta1,
      beta2: c.beta2,
      epsilon: c.eps,
      weightDecay: c.weight_decay,
      maxGradNorm: c.max_grad_norm,
      device,
    });
    return [
      [`step ${i + 1} grad_norm`, compareArray([gradNorm], [grad_norm], F32)],
      [`step ${i + 1} parameters`, compareArray(parameter, want, F32)],
    ] as const;
  });
  return Object.fromEntries(entries);
}

export type PreferenceCase =
  | {
      objective: 'dpo';
      beta: number;
      policy_chosen: number[];
      policy_rejected: number[];
      ref_chosen: number[];
      ref_rejected: number[];
      want: { loss: number; d_policy_chosen: number[]; d_policy_rejected: number[] };
    }
  | {
      objective: 'kto';
      beta: number;
      policy: number[];
      ref: number[];
      desirable: boolean[];
      reference_point: number;
      desirable_weight: number;
      undesirable_weight: number;
      want: { loss: number; d_policy: number[] };
    };

/** Differences of loss and slopes from the golden ones. */
export function checkPreferenceCase(c: PreferenceCase, device: Device): Record<string, Difference> {
  if (c.objective === 'dpo') {
    const got = dpo({
      policyChosen: Float64Array.from(c.policy_chosen),
      policyRejected: Float64Array.from(c.policy_rejected),
      refChosen: Float64Array.from(c.ref_chosen),
      refRejected: Float64Array.from(c.ref_rejected),
      beta: c.beta,
      device,
    });
    return {
      loss: compareArray([got.loss], [c.want.loss], F64),
      d_policy_chosen: compareArray(got.dPolicyChosen, c.want.d_policy_chosen, F64),
      d_policy_rejected: compareArray(got.dPolicyRejected, c.want.d_policy_rejected, F64),
    };
  }
  const got = kto({
    policy: Float64Array.from(c.policy),
    ref: Float64Array.from(c.ref),
    desirable: Uint8Array.from(c.desirable, Number),
    beta: c.beta,
    referencePoint: c.reference_point,
    desirableWeight: c.desirable_weight,
    undesirableWeight: c.undesirable_weight,
    device,
  });
  return {
    loss: compareArray([got.loss], [c.want.loss], F64),
    d_policy: compareArray(got.dPolicy, c.want.d_policy, F64),
  };
}
