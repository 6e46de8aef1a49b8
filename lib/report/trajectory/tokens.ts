import { stepEntropy } from '../../stream/entropy.ts';
import type { Step } from '../../stream/records.ts';

/**
 * How surprised one may be by a token, in nats. `entropy` is that of the policy's whole distribution; where the policy
 * could not report it, `surprisal` is −log p of the token that was drawn, which is another thing and is named so.
 */
export type TokenMeasure = 'entropy' | 'surprisal';

export interface ShownToken {
  id: number;
  /** Null where nobody recorded what the id spells. */
  text: string | null;
  /** In nats; null where unscored. */
  value: number | null;
  entropy: number | null;
  logprob: number | null;
}

export interface ShownTokens {
  measure: TokenMeasure | null;
  tokens: ShownToken[];
}

/** What the ids of a step spell, one text a token, where the caller knows the vocabulary. */
export type TokenTexts = (step: Step) => readonly string[] | null;

/** The tokens of a step's reply with what they are coloured by. */
export function shownTokens(step: Step, spell: TokenTexts = () => null): ShownTokens {
  const { token_ids, logprobs, entropies } = step.response;
  const texts = recordedTexts(step) ?? spell(step);
  const hasEntropies = entropies?.length === token_ids.length && entropies.some((entropy) => entropy !== null);
  const hasLogprobs = logprobs.length === token_ids.length && logprobs.some((logprob) => logprob !== null);
  const measure = hasEntropies ? 'entropy' : hasLogprobs ? 'surprisal' : null;
  const tokens = token_ids.map((id, index) => {
    const logprob = logprobs[index] ?? null;
    const entropy = entropies?.[index] ?? null;
    const value = measure === 'entropy' ? entropy : logprob === null ? null : Math.max(0, -logprob);
    return { id, text: texts?.[index] ?? null, value, entropy, logprob };
  });
  return { measure, tokens };
}

/** A field `tokens` beside the ids, as some servers' replies come with. */
function recordedTexts({ response }: Step): string[] | null {
  const { tokens, token_ids } = response as { tokens?: unknown; token_ids: readonly number[] };
  if (!Array.isArray(tokens) || tokens.length !== token_ids.length) return null;
  return tokens.every((token) => typeof token === 'string') ? tokens : null;
}

/** The mean over a step's tokens of what it is coloured by; null where a token has no value. */
export function stepValue(step: Step): number | null {
  const exact = stepEntropy(step);
  if (exact !== null) return exact;
  const { measure, tokens } = shownTokens(step);
  if (measure === null || tokens.some(({ value }) => value === null)) return null;
  return tokens.reduce((sum, { value }) => sum + value!, 0) / tokens.length;
}

/** Upper ends of all bins but the last, in nats: nearly sure, a lean, about two choices, about three to seven, more. */
export const BINS = [0.1, 0.5, 1, 2] as const;

/** 0 (sure) to 4 (open); fixed, so that pages can be compared. */
export function binOf(value: number): number {
  const bin = BINS.findIndex((end) => value < end);
  return bin === -1 ? BINS.length : bin;
}

/** `below 0.1`, `0.1 to 0.5`, … `2 or more`. */
export function binLabels(): string[] {
  return [0, ...BINS].map((start, index) => {
    if (index === 0) return `below ${BINS[0]}`;
    return index === BINS.length ? `${start} or more` : `${start} to ${BINS[index]}`;
  });
}
