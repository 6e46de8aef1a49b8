import { messageOf } from '../errors.ts';
import type { ScreenConvention } from '../policy/grammar/coordinates.ts';
import { type ParsedReply, parseReply } from '../policy/grammar/parse.ts';
import { bounded } from '../policy/grammar/playable.ts';
import type { PolicyReply } from '../policy/policy.ts';

/**
 * What a reply does on the screen. One that was cut off at its token limit does nothing, whatever its beginning says: its
 * tokens are the policy's own and are recorded, but half a thought must not be played.
 */
export function readReply(
  reply: Pick<PolicyReply, 'text' | 'finishReason'>,
  convention: ScreenConvention,
): ParsedReply {
  const read = parsed(reply.text, convention);
  if (reply.finishReason !== 'length') return { ...read, actions: bounded(read.actions) };
  return { ...read, actions: [], parseError: 'the reply was cut off at its token limit' };
}

/** The parser throws nothing; if it ever does, that costs one step, not the run. */
function parsed(text: string, convention: ScreenConvention): ParsedReply {
  try {
    return parseReply(text, convention);
  } catch (error) {
    return { thought: null, actions: [], parseError: `the reply could not be read: ${messageOf(error)}` };
  }
}
