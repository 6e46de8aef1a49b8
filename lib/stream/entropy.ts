import type { Step } from './records.ts';

/**
 * H of a step: the mean exact entropy in nats over its reply tokens (reference/dart-and-arpo.md §1.4). Null where the
 * policy did not report the entropy of every token: it is never guessed from −logp, which is an estimate of the mean
 * over replies and says little about this one.
 */
export function stepEntropy(step: Step): number | null {
  const { entropies, token_ids } = step.response;
  if (!entropies || entropies.length === 0 || entropies.length !== token_ids.length) return null;
  let sum = 0;
  for (const entropy of entropies) {
    if (entropy === null) return null;
    sum += entropy;
  }
  return sum / entropies.length;
}
