import { ROUNDING } from '../../stream/numbers.ts';

/** Servers write this where a log-probability underflowed or was not kept. */
const PLACEHOLDER = -9999;

/** Why tokens of a reply could not be scored. */
export type TokenTrouble = 'no-ids' | 'no-logprobs' | 'counts-differ';

export interface MatchedTokens {
  tokenIds: number[];
  /** One per id; null where unscored. */
  logprobs: (number | null)[];
  trouble: TokenTrouble | null;
}

/**
 * Puts a reply's token ids and log-probabilities together. Without ids there are no tokens: the trainer tokenises the
 * text. Log-probabilities that cannot be matched to the ids one by one are worth nothing, so all tokens are unscored then:
 * lists of different lengths, or another number than the server itself counted.
 * @param counted `usage.completion_tokens`, where the server says it.
 */
export function matchTokens(
  ids: readonly unknown[] | null,
  logprobs: readonly unknown[] | null,
  counted: number | null,
): MatchedTokens {
  if (ids === null || !ids.every(isId)) return { tokenIds: [], logprobs: [], trouble: 'no-ids' };
  const tokenIds = [...ids];
  const unscored = tokenIds.map(() => null);
  if (logprobs === null) return { tokenIds, logprobs: unscored, trouble: 'no-logprobs' };
  if (logprobs.length !== ids.length || (counted !== null && counted !== ids.length)) {
    return { tokenIds, logprobs: unscored, trouble: 'counts-differ' };
  }
  return { tokenIds, logprobs: logprobs.map(usable), trouble: null };
}

/** The id in vLLM's `token_id:151645`; null for any other token. */
export function idInToken(token: unknown): number | null {
  const found = typeof token === 'string' ? /^token_id:(\d+)$/.exec(token) : null;
  return found ? Number(found[1]) : null;
}

function isId(id: unknown): id is number {
  return Number.isInteger(id) && (id as number) >= 0;
}

function usable(logprob: unknown): number | null {
  if (typeof logprob !== 'number' || !Number.isFinite(logprob)) return null;
  if (logprob <= PLACEHOLDER || logprob > ROUNDING) return null;
  return Math.min(logprob, 0);
}
