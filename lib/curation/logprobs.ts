import { ROUNDING } from '../stream/numbers.ts';
import type { Step } from '../stream/records.ts';

/** vLLM and SGLang write −9999 where a log-probability underflowed or was not asked for. */
const PLACEHOLDER = -9999;

export interface CheckedStep {
  step: Step;
  /** Tokens without a usable log-probability. */
  unscoredTokens: number;
  /** No token ids, or no log-probability at all: the trainer tokenises the text and takes it with w = 1. */
  withoutLogprobs: boolean;
}

/**
 * Checks what truncated importance sampling will read. Null, NaN, −9999 and positive log-probabilities become null, an
 * unscored token; a list of another length than the tokens cannot be matched to them and counts as wholly unscored
 * (DART's code silently sets those to 0, which is w = 1 as well, but nobody hears of it).
 */
export function checkLogprobs(step: Step): CheckedStep {
  const { token_ids, logprobs } = step.response;
  const matched = logprobs.length === token_ids.length;
  const checked = matched ? logprobs.map(usable) : token_ids.map(() => null);
  const unscoredTokens = checked.filter((logprob) => logprob === null).length;
  const withoutLogprobs = unscoredTokens === token_ids.length;
  const unchanged = matched && checked.every((logprob, index) => logprob === logprobs[index]);
  if (unchanged) return { step, unscoredTokens, withoutLogprobs };
  return { step: { ...step, response: { ...step.response, logprobs: checked } }, unscoredTokens, withoutLogprobs };
}

function usable(logprob: number | null): number | null {
  if (logprob === null || !Number.isFinite(logprob)) return null;
  if (logprob <= PLACEHOLDER || logprob > ROUNDING) return null;
  return Math.min(logprob, 0);
}
