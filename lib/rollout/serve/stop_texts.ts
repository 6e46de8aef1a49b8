import type { PolicyReply } from '../../policy/policy.ts';

/**
 * The reply up to the first of some texts. One that was cut has no tokens: those of the policy make up its whole text, and
 * nobody knows where in them the cut lies.
 */
export function upToStop(reply: PolicyReply, stop: readonly string[]): PolicyReply {
  const places = stop.map((text) => reply.text.indexOf(text)).filter((place) => place >= 0);
  if (places.length === 0) return reply;
  const { promptTokenIds, modelVersion } = reply;
  return {
    ...{
      text: reply.text.slice(0, Math.min(...places)),
      tokenIds: [],
      logprobs: [],
      finishReason: 'stop',
      modelVersion,
    },
    ...(promptTokenIds ? { promptTokenIds } : {}),
  };
}
