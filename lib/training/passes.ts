import { type Device, logpEntropy, type PolicyStatistics, policyLoss } from '../../native/index.ts';
import type { Example } from './examples.ts';
import type { FrameCache } from './frames.ts';
import type { ReplyInput, TrainableModel } from './model.ts';
import type { PolicyObjective } from './presets.ts';

/** Examples that go through the model together; all were sampled at one temperature. */
export interface MicroBatch {
  /** Places in the list that was cut up. */
  indices: number[];
  temperature: number;
}

/**
 * Cuts a list into micro-batches of at most `size`, replies of like length together. Nothing but speed depends on the
 * cut: means are taken over the whole update.
 */
export function microBatches(examples: readonly Example[], size: number): MicroBatch[] {
  const order = examples.map((_, i) => i);
  const rank = (i: number) => examples[i]!;
  order.sort(
    (a, b) => rank(a).temperature - rank(b).temperature || rank(a).tokens.length - rank(b).tokens.length || a - b,
  );
  const batches: MicroBatch[] = [];
  for (const index of order) {
    const { temperature } = rank(index);
    const last = batches.at(-1);
    if (last && last.indices.length < size && last.temperature === temperature) last.indices.push(index);
    else batches.push({ indices: [index], temperature });
  }
  return batches;
}

/** Reads the screenshots; throws a DartError naming the sample whose picture is missing. */
export function inputsOf(examples: readonly Example[], frames: Pick<FrameCache, 'get'>): ReplyInput[] {
  return examples.map(({ screenshot, where, instruction, history, tokens }) => {
    const { rgb, width, height } = frames.get(screenshot, where);
    return { rgb, width, height, instruction, history, tokens };
  });
}

/**
 * A pass without gradient: log-probability and entropy of every token.
 * @param device Of the kernel; the model decides for itself.
 * @returns for each example its tokens' values, NaN where a logit was not finite.
 */
export async function scorePass(
  model: TrainableModel,
  examples: readonly Example[],
  frames: Pick<FrameCache, 'get'>,
  size: number,
  device: Device = 'cpu',
): Promise<{ logp: Float32Array; entropy: Float32Array }[]> {
  const results: { logp: Float32Array; entropy: Float32Array }[] = new Array(examples.length);
  for (const { indices, temperature } of microBatches(examples, size)) {
    const batch = indices.map((i) => examples[i]!);
    const logits = await model.forward(inputsOf(batch, frames), { gradient: false });
    const target = joined(batch);
    const scores = logpEntropy({
      logits,
      vocabulary: model.vocabulary,
      target,
      temperature,
      nonfinite: 'count',
      device,
    });
    let at = 0;
    for (const index of indices) {
      const end = at + examples[index]!.tokens.length;
      results[index] = { logp: scores.logp.slice(at, end), entropy: scores.entropy.slice(at, end) };
      at = end;
    }
  }
  return results;
}

export interface LossInputs {
  /** Micro-batch in the order that its logits come in. */
  examples: readonly Example[];
  /** One factor for each example. */
  scales: ArrayLike<number>;
  temperature: number;
  /** `sft` is the plain negative log-likelihood. */
  objective: PolicyObjective | 'sft';
  /** True where the policy has not moved since the start of the update: r is 1 and logo the current log-probability. */
  onPolicy: boolean;
  refLogp: Float32Array | null;
  /** Of the kernel; default `cpu`. */
  device?: Device;
}

/**
 * Replaces the logits by the loss's gradient with respect to them and hands back the sums; a loss that is not finite is
 * counted there. Synchronous, like every kernel call of the trainer: beside the network's passes, during which timers and
 * signals are served, the loop waits here for a few milliseconds.
 */
export function lossAndGradient(logits: Float32Array, vocabulary: number, inputs: LossInputs): PolicyStatistics {
  const { examples, scales, temperature, objective, onPolicy, refLogp } = inputs;
  const offsets = new Int32Array(examples.length + 1);
  examples.forEach((example, i) => {
    offsets[i + 1] = offsets[i]! + example.tokens.length;
  });
  const { device = 'cpu' } = inputs;
  const rows = { logits, vocabulary, target: joined(examples), sequenceOffsets: offsets, temperature, device };
  const spread = (valueFor: (i: number) => number) => spreadOver(offsets, valueFor);
  const common = { ...rows, dlogits: logits, scale: spread((i) => scales[i]!), nonfinite: 'count' as const };
  if (objective === 'sft') return policyLoss({ ...common, kind: 'sft' }).statistics;
  const { tisCap } = objective;
  const old = onPolicy ? null : concatenated(examples, (example) => example.oldLogp!);
  return policyLoss({
    ...common,
    kind: objective.surrogate,
    advantage: spread((i) => examples[i]!.advantage),
    oldLogp: old,
    rolloutLogp: concatenated(examples, (example) => example.rolloutLogp),
    refLogp,
    clipLow: objective.clipLow,
    clipHigh: objective.clipHigh,
    dualClip: objective.dualClip,
    tis: tisCap === null ? null : { cap: tisCap, level: objective.tisLevel, mode: objective.tisMode },
    kl: objective.klBeta === 0 ? null : { beta: objective.klBeta, estimator: objective.klEstimator },
    entropyCoefficient: objective.entropyCoef,
  }).statistics;
}

function joined(examples: readonly Example[]): Int32Array {
  const all = new Int32Array(examples.reduce((sum, example) => sum + example.tokens.length, 0));
  let at = 0;
  for (const { tokens } of examples) {
    all.set(tokens, at);
    at += tokens.length;
  }
  return all;
}

function concatenated(examples: readonly Example[], of: (example: Example) => Float32Array): Float32Array {
  const all = new Float32Array(examples.reduce((sum, example) => sum + example.tokens.length, 0));
  let at = 0;
  for (const example of examples) {
    all.set(of(example), at);
    at += example.tokens.length;
  }
  return all;
}

/** A value for each sequence, repeated over its tokens. */
function spreadOver(offsets: Int32Array, valueFor: (sequence: number) => number): Float32Array {
  const all = new Float32Array(offsets.at(-1) ?? 0);
  for (let s = 0; s + 1 < offsets.length; s++) all.fill(valueFor(s), offsets[s], offsets[s + 1]);
  return all;
}
