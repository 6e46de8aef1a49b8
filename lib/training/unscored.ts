import { counted } from '../stream/counted.ts';
import type { Example } from './examples.ts';

/**
 * A line for people where tokens of these steps have no behaviour log-probability: what was learned from them would
 * otherwise be seen in a metric only.
 * @returns null where each has one.
 */
export function unscoredLine(examples: readonly Example[]): string | null {
  const unscored = examples.filter(isUnscored);
  const [first] = unscored;
  if (first === undefined) return null;
  const why = first.tokenised ? 'its token_ids are no reply of this policy' : 'logprobs are missing';
  const which = `${unscored.length} of ${counted(examples.length, 'step')}, the first ${first.where}, where ${why}`;
  const learned = 'they are learned from with importance weight 1, and counted as train/unscored_tokens';
  const hint = 'rollouts of this policy with token ids and log-probabilities, where it is not meant so';
  return `tokens could not be scored in ${which}: ${learned}. Try: ${hint}`;
}

function isUnscored({ tokenised, rolloutLogp }: Example): boolean {
  return tokenised || rolloutLogp.some(Number.isNaN);
}
