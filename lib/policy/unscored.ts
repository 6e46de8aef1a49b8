import type { Action } from '../guest/guest.ts';
import { formatAction } from './grammar/index.ts';
import type { PolicyReply } from './policy.ts';

/** The reply of a policy that has no tokens: one action, nothing to learn log-probabilities from. */
export function unscoredReply(action: Action): PolicyReply {
  return { text: `Action: ${formatAction(action)}`, tokenIds: [], logprobs: [], finishReason: 'stop', modelVersion: 0 };
}
