import type { Device } from '../device.ts';
import { type Logits, type LossKind, type PolicyLossInput, policyLoss } from '../policy.ts';
import { bf16FromNumbers, numbersFromBf16 } from './bf16.ts';
import { compareArray, compareRows, type Difference, type GoldenNumber, numberOf } from './compare.ts';
import { f16FromNumbers, numbersFromF16 } from './f16.ts';

export interface PolicyCase {
  name: string;
  dtype: 'f32' | 'bf16' | 'f16';
  rtol: number;
  N: number;
  V: number;
  temperature: number;
  loss_kind: LossKind;
  clip_low: number;
  clip_high: number;
  dual_clip: number | null;
  tis_cap: number | null;
  tis_level: 'token' | 'sequence';
  tis_mode: 'truncate' | 'mask';
  kl_beta: number;
  kl_estimator: 'k1' | 'k2' | 'k3';
  entropy_coef: number;
  logits: GoldenNumber[];
  target: number[];
  sequence: number[];
  mask: number[];
  scale: number[];
  advantage: number[];
  old_logp: number[];
  rollout_logp: number[];
  ref_logp: number[];
  want: {
    logp: GoldenNumber[];
    entropy: GoldenNumber[];
    ratio: GoldenNumber[];
    tis_weight: GoldenNumber[];
    token_loss: GoldenNumber[];
    loss: number;
    dlogits: GoldenNumber[];
  };
}

/** To and from each type of logits, and the relative rounding of dlogits that are written in it. */
const TYPES = {
  f32: {
    encode: (numbers: number[]) => Float32Array.from(numbers),
    decode: (logits: Logits) => logits as Float32Array,
    rounding: 0,
  },
  bf16: {
    encode: bf16FromNumbers,
    decode: (logits: Logits) => numbersFromBf16(logits as Uint16Array),
    rounding: 2 ** -7,
  },
  f16: {
    encode: f16FromNumbers,
    decode: (logits: Logits) => numbersFromF16(logits as Uint16Array),
    rounding: 2 ** -10,
  },
};

function offsetsOf(sequence: readonly number[]): Int32Array {
  const starts = sequence.flatMap((id, i) => (i === 0 || id !== sequence[i - 1] ? [i] : []));
  return Int32Array.from([...starts, sequence.length]);
}

/** The kernel's arguments for one case of policy_loss.json. */
export function policyInput(c: PolicyCase): PolicyLossInput {
  return {
    logits: TYPES[c.dtype].encode(c.logits.map(numberOf)),
    ...(c.dtype === 'f16' ? { precision: 'f16' as const } : {}),
    vocabulary: c.V,
    target: Int32Array.from(c.target),
    mask: Uint8Array.from(c.mask),
    scale: Float32Array.from(c.scale),
    advantage: Float32Array.from(c.advantage),
    oldLogp: Float32Array.from(c.old_logp),
    rolloutLogp: Float32Array.from(c.rollout_logp),
    refLogp: Float32Array.from(c.ref_logp),
    sequenceOffsets: offsetsOf(c.sequence),
    temperature: c.temperature,
    kind: c.loss_kind,
    clipLow: c.clip_low,
    clipHigh: c.clip_high,
    dualClip: c.dual_clip,
    tis: c.tis_cap === null ? null : { cap: c.tis_cap, level: c.tis_level, mode: c.tis_mode },
    kl: c.kl_beta === 0 ? null : { beta: c.kl_beta, estimator: c.kl_estimator },
    entropyCoefficient: c.entropy_coef,
  };
}

/** Every output of one case against float64 autograd; 16-bit logits with dlogits in f32 and in their own type. */
export function checkPolicyCase(c: PolicyCase, device: Device): Record<string, Difference> {
  const input = policyInput(c);
  const got = policyLoss({ ...input, device, dlogits: new Float32Array(c.N * c.V) });
  const same = policyLoss({ ...input, device, dlogits: input.logits });
  const { decode, rounding } = TYPES[c.dtype];
  const inPlace = decode(same.dlogits!);
  return {
    logp: compareArray(got.logp, c.want.logp, c.rtol),
    entropy: compareArray(got.entropy, c.want.entropy, c.rtol),
    ratio: compareArray(got.ratio, c.want.ratio, c.rtol),
    tis_weight: compareArray(got.weight, c.want.tis_weight, c.rtol),
    token_loss: compareArray(got.tokenLoss, c.want.token_loss, c.rtol),
    loss: compareArray([got.statistics.loss], [c.want.loss], c.rtol),
    dlogits: compareRows(got.dlogits!, c.want.dlogits, c.mask, c.rtol),
    'dlogits in place': compareRows(inPlace, c.want.dlogits, c.mask, rounding || c.rtol),
  };
}
