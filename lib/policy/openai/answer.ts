import { ServerFailure } from './failure.ts';
import type { MatchedTokens } from './tokens.ts';

/** What a server's answer says, whatever the API. */
export interface ServerAnswer extends MatchedTokens {
  text: string | null;
  finishReason: string | null;
  entropies?: (number | null)[];
  promptTokenIds?: number[];
  /** Version of the weights, where the server says a number. */
  version: number | null;
}

/**
 * Refuses what is no whole reply, so that it is never played. `stop` and `length` are whole: a reply that was cut off at
 * its token limit is what the policy said, though no action is read from it.
 * @throws ServerFailure: `broken` (to be asked again) where the server gave up, `refused` where it never will say more.
 */
export function checkWhole(answer: ServerAnswer, where: string): string {
  const { text, finishReason } = answer;
  if (finishReason === 'stop' || finishReason === 'length') {
    if (text !== null) return text;
    throw new ServerFailure('refused', 'the reply has no text', {
      where,
      hint: 'a model without tools and without reasoning',
    });
  }
  if (finishReason === 'tool_calls' || finishReason === 'function_call' || finishReason === 'content_filter') {
    throw new ServerFailure('refused', `the reply ended with ${finishReason}`, {
      where,
      hint: 'a model that answers in text',
    });
  }
  throw new ServerFailure('broken', `the reply is not whole: it ended with ${finishReason ?? 'no reason'}`, { where });
}

/** `weight_version` as SGLang and our own server say it, a number in text; null for SGLang's "default" and for none. */
export function versionIn(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('weight_version' in value)) return null;
  const { weight_version: said } = value;
  // Not just anything as text: of {"toString": []} there is none, and ["7"] is no version.
  const text = typeof said === 'number' || typeof said === 'string' ? String(said) : '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
