import type { Random } from '../../stream/random.ts';
import type { Ranges } from './grammar.ts';

export interface Drawing {
  /** 0 takes the likeliest token. */
  temperature: number;
  /** Draw only from the likeliest tokens that together have this much probability. */
  topP?: number;
  /** Draw only from this many likeliest tokens. */
  topK?: number;
}

export interface Drawn {
  token: number;
  /** Of the token, before top-p and top-k cut anything off: as a trainer computes it. */
  logprob: number;
  /** In nats, of the same distribution. */
  entropy: number;
}

/**
 * Draws a token from the allowed entries of a row of logits. Log-probability and entropy are those of the distribution at
 * the sampling temperature over the allowed entries, exactly; at temperature 0 they are those at temperature 1.
 * @param logits the row begins at `start`
 */
export function draw(logits: Float32Array, start: number, allowed: Ranges, drawing: Drawing, random: Random): Drawn {
  const scale = drawing.temperature > 0 ? 1 / drawing.temperature : 1;
  const tokens: number[] = [];
  const scores: number[] = [];
  let best = 0;
  for (const [from, to] of allowed) {
    for (let token = from; token < to; token++) {
      const score = logits[start + token]! * scale;
      if (score > (scores[best] ?? Number.NEGATIVE_INFINITY)) best = scores.length;
      tokens.push(token);
      scores.push(score);
    }
  }
  const top = scores[best] ?? Number.NaN;
  if (!Number.isFinite(top)) throw new RangeError('the network gave no finite logit among the allowed tokens');
  const weights = scores.map((score) => Math.exp(score - top));
  const mass = weights.reduce((sum, weight) => sum + weight, 0);
  const logMass = top + Math.log(mass);
  let entropy = logMass;
  weights.forEach((weight, i) => {
    // An excluded entry has no mass, and −∞ times 0 would not be a number.
    if (weight > 0) entropy -= (weight / mass) * scores[i]!;
  });
  const at = drawing.temperature > 0 ? pick(weights, mass, drawing, random) : best;
  return { token: tokens[at]!, logprob: scores[at]! - logMass, entropy: Math.max(0, entropy) };
}

function pick(weights: number[], mass: number, drawing: Drawing, random: Random): number {
  const kept = cut(weights, mass, drawing);
  const total = kept === weights ? mass : kept.reduce((sum, weight) => sum + weight, 0);
  let left = random.next() * total;
  let last = 0;
  for (let i = 0; i < kept.length; i++) {
    if (kept[i] === 0) continue;
    last = i;
    left -= kept[i]!;
    if (left < 0) break;
  }
  return last;
}

/** Weights with what top-k and top-p leave out set to 0. */
function cut(weights: number[], mass: number, { topK, topP }: Drawing): number[] {
  const byCount = topK !== undefined && topK > 0 && topK < weights.length;
  const byMass = topP !== undefined && topP < 1;
  if (!byCount && !byMass) return weights;
  const order = weights.map((_, i) => i).sort((a, b) => weights[b]! - weights[a]! || a - b);
  const kept = new Array<number>(weights.length).fill(0);
  let sum = 0;
  for (const i of order.slice(0, byCount ? topK : undefined)) {
    kept[i] = weights[i]!;
    sum += weights[i]!;
    if (byMass && sum >= topP * mass) break;
  }
  return kept;
}
