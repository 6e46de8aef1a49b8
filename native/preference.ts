import { native } from './addon.ts';
import { checkArray, checkFinite } from './arrays.ts';
import { checkNumber, checkOptions, checkPositive } from './check.ts';
import { type Device, placeOf } from './device.ts';

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

const DPO_OPTIONS: Record<keyof DpoInput, true> = {
  policyChosen: true,
  policyRejected: true,
  refChosen: true,
  refRejected: true,
  beta: true,
  device: true,
};

/** Log-probabilities of whole sequences, all of them finite. */
function checkScores(value: unknown, name: string, length?: number): Float64Array {
  const scores = checkArray(value, name, 'Float64Array', length);
  checkFinite(scores, name);
  return scores;
}

/** Direct preference optimisation (Rafailov et al. 2023). */
export function dpo(input: DpoInput): DpoResult {
  checkOptions(input, 'the input of dpo', DPO_OPTIONS);
  const beta = checkPositive(input.beta, 'beta');
  const policyChosen = checkScores(input.policyChosen, 'policyChosen');
  const pairs = policyChosen.length;
  const scores = {
    policyChosen,
    policyRejected: checkScores(input.policyRejected, 'policyRejected', pairs),
    refChosen: checkScores(input.refChosen, 'refChosen', pairs),
    refRejected: checkScores(input.refRejected, 'refRejected', pairs),
  };
  const loss = new Float64Array(1);
  const out = { dPolicyChosen: new Float64Array(pairs), dPolicyRejected: new Float64Array(pairs) };
  native().addon.dpo({ ...scores, ...out, beta, loss, ...placeOf(input.device) });
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

const KTO_OPTIONS: Record<keyof KtoInput, true> = {
  policy: true,
  ref: true,
  desirable: true,
  beta: true,
  referencePoint: true,
  desirableWeight: true,
  undesirableWeight: true,
  device: true,
};

/** Kahneman-Tversky optimisation (Ethayarajh et al. 2024): mean loss and d loss / d log-probability of each sequence. */
export function kto(input: KtoInput): { loss: number; dPolicy: Float64Array } {
  checkOptions(input, 'the input of kto', KTO_OPTIONS);
  const numbers = {
    beta: checkPositive(input.beta, 'beta'),
    referencePoint: checkNumber(input.referencePoint, 'referencePoint'),
    desirableWeight: checkNumber(input.desirableWeight ?? 1, 'desirableWeight', 0),
    undesirableWeight: checkNumber(input.undesirableWeight ?? 1, 'undesirableWeight', 0),
  };
  const policy = checkScores(input.policy, 'policy');
  const ref = checkScores(input.ref, 'ref', policy.length);
  const desirable = checkArray(input.desirable, 'desirable', 'Uint8Array', policy.length);
  const loss = new Float64Array(1);
  const dPolicy = new Float64Array(policy.length);
  native().addon.kto({ policy, ref, desirable, ...numbers, loss, dPolicy, ...placeOf(input.device) });
  return { loss: loss[0]!, dPolicy };
}
