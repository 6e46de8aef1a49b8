import { native } from './addon.ts';
import { checkNumber, checkPositive } from './check.ts';
import type { Device } from './device.ts';

/** B pairs of summed log-probabilities. */
export interface DpoInput {
  policyChosen: Float64Array;
  policyRejected: Float64Array;
  refChosen: Float64Array;
  refRejected: Float64Array;
  beta: number;
  device?: Device;
}

export interface DpoResult {
  /** -mean ln sigmoid(beta * ((chosen - ref) - (rejected - ref))). */
  loss: number;
  /** d loss / d log-probability of each sequence: the weight that its tokens take in `policyLoss`, kind `sft`, negated. */
  dPolicyChosen: Float64Array;
  dPolicyRejected: Float64Array;
}

/** Direct preference optimisation (Rafailov et al. 2023). */
export function dpo(input: DpoInput): DpoResult {
  const { addon, cudaLibrary } = native();
  const beta = checkPositive(input.beta, 'beta');
  const pairs = input.policyChosen.length;
  const loss = new Float64Array(1);
  const out = { dPolicyChosen: new Float64Array(pairs), dPolicyRejected: new Float64Array(pairs) };
  addon.dpo({ ...input, ...out, beta, loss, device: input.device ?? 'cpu', cudaLibrary });
  return { loss: loss[0]!, ...out };
}

/** B sequences. */
export interface KtoInput {
  policy: Float64Array;
  ref: Float64Array;
  /** 1: desirable. */
  desirable: Uint8Array;
  beta: number;
  /** z, an estimate of the batch's KL divergence; no gradient through it. */
  referencePoint: number;
  /** Default 1. */
  desirableWeight?: number;
  /** Default 1. */
  undesirableWeight?: number;
  device?: Device;
}

/** Kahneman-Tversky optimisation (Ethayarajh et al. 2024): mean loss and d loss / d log-probability of each sequence. */
export function kto(input: KtoInput): { loss: number; dPolicy: Float64Array } {
  const { addon, cudaLibrary } = native();
  const numbers = {
    beta: checkPositive(input.beta, 'beta'),
    referencePoint: checkNumber(input.referencePoint, 'referencePoint'),
    desirableWeight: checkNumber(input.desirableWeight ?? 1, 'desirableWeight', 0),
    undesirableWeight: checkNumber(input.undesirableWeight ?? 1, 'undesirableWeight', 0),
  };
  const loss = new Float64Array(1);
  const dPolicy = new Float64Array(input.policy.length);
  addon.kto({ ...input, ...numbers, loss, dPolicy, device: input.device ?? 'cpu', cudaLibrary });
  return { loss: loss[0]!, dPolicy };
}
