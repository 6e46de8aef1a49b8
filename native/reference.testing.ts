import type { PolicyLossInput } from './policy.ts';

/**
 * The policy loss again, in double and straight from the formulas of design §9, as a function of the logits alone: what
 * carries no gradient (weights, cispo's ratio, gspo's mean, an absent old policy) is held at the logits it was made with.
 */
export interface ReferenceLoss {
  loss(logits: ArrayLike<number>): number;
  logp: number[];
  entropy: number[];
}

const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);

function rowOf(logits: ArrayLike<number>, row: number, width: number, temperature: number): number[] {
  return Array.from({ length: width }, (_, j) => logits[row * width + j]! / temperature);
}

/** ln softmax of one row. */
function logSoftmax(z: readonly number[]): number[] {
  const top = Math.max(...z);
  const total = Math.log(z.reduce((sum, x) => sum + Math.exp(x - top), 0));
  return z.map((x) => x - top - total);
}

const entropyOf = (logp: readonly number[]) =>
  -logp.reduce((sum, x) => sum + (x === -Infinity ? 0 : Math.exp(x) * x), 0);

function surrogate(
  input: PolicyLossInput,
  logp: number,
  ratio: number,
  frozenRatio: number,
  advantage: number,
): number {
  const low = 1 - (input.clipLow ?? 0.2);
  const high = 1 + (input.clipHigh ?? 0.28);
  if (input.kind === 'sft') return -advantage * logp;
  if (input.kind === 'cispo') return -Math.min(frozenRatio, high) * advantage * logp;
  const loss = -Math.min(ratio * advantage, clamp(ratio, low, high) * advantage);
  return input.dualClip && advantage < 0 ? Math.min(loss, -input.dualClip * advantage) : loss;
}

function klOf(input: PolicyLossInput, difference: number): number {
  const d = clamp(difference, -20, 20);
  if (!input.kl) return 0;
  return input.kl.beta * { k1: -d, k2: (d * d) / 2, k3: Math.exp(d) - d - 1 }[input.kl.estimator ?? 'k3'];
}

function weightOf(input: PolicyLossInput, logWeight: number): number {
  if (!input.tis || Number.isNaN(logWeight)) return 1;
  const w = Math.exp(logWeight);
  const truncated = w > input.tis.cap * (1 + 1e-4);
  return truncated && input.tis.mode === 'mask' ? 0 : Math.min(w, input.tis.cap);
}

/** Mean of the numbers that are not NaN; NaN when there are none. */
function mean(values: readonly number[]): number {
  const usable = values.filter((value) => !Number.isNaN(value));
  return usable.length ? usable.reduce((a, b) => a + b) / usable.length : Number.NaN;
}

export function referenceLoss(input: PolicyLossInput): ReferenceLoss {
  const rows = input.target.length;
  const width = input.vocabulary;
  const temperature = input.temperature ?? 1;
  const all = Array.from({ length: rows }, (_, row) => row);
  const tokens = all.filter((row) => input.target[row]! >= 0 && input.mask?.[row] !== 0);
  const offsets = input.sequenceOffsets ?? Int32Array.from([...all, rows]);
  const sequenceOf = (row: number) => offsets.findIndex((_, s) => row >= offsets[s]! && row < offsets[s + 1]!);
  const softmax = (logits: ArrayLike<number>) => all.map((row) => logSoftmax(rowOf(logits, row, width, temperature)));

  const at = softmax(input.logits);
  const logp = all.map((row) => at[row]![Math.max(input.target[row]!, 0)]!);
  const old = all.map((row) => input.oldLogp?.[row] ?? logp[row]!);
  const logWeight = all.map((row) => clamp(old[row]! - (input.rolloutLogp?.[row] ?? Number.NaN), -20, 20));
  const over = (values: readonly number[], row: number) =>
    mean(tokens.filter((other) => sequenceOf(other) === sequenceOf(row)).map((other) => values[other]!));
  const meanRatio = all.map((row) =>
    over(
      logp.map((x, i) => x - old[i]!),
      row,
    ),
  );
  const weight = all.map((row) =>
    weightOf(input, input.tis?.level === 'sequence' ? over(logWeight, row) : logWeight[row]!),
  );

  const tokenLoss = (row: number, own: number[]) => {
    const now = own[input.target[row]!]!;
    const gspo = input.kind === 'gspo' ? meanRatio[row]! + now - logp[row]! : now - old[row]!;
    const frozen = Math.exp(logp[row]! - old[row]!);
    const plain = surrogate(input, now, Math.exp(gspo), frozen, input.advantage?.[row] ?? 1);
    const kl = input.refLogp ? klOf(input, input.refLogp[row]! - now) : 0;
    return weight[row]! * plain + kl - (input.entropyCoefficient ?? 0) * entropyOf(own);
  };
  const loss = (logits: ArrayLike<number>) => {
    const now = softmax(logits);
    return tokens.reduce((sum, row) => sum + input.scale[row]! * tokenLoss(row, now[row]!), 0);
  };
  return { loss, logp, entropy: at.map(entropyOf) };
}

/** d loss / d logits by central differences. */
export function numericalGradient(loss: (x: Float64Array) => number, at: ArrayLike<number>, step = 1e-5): Float64Array {
  return Float64Array.from({ length: at.length }, (_, i) => {
    const x = Float64Array.from(at);
    x[i] = at[i]! + step;
    const up = loss(x);
    x[i] = at[i]! - step;
    return (up - loss(x)) / (2 * step);
  });
}
