import { DartError } from '../../errors.ts';
import type { Outcome } from '../../stream/records.ts';

/** What a `reward.txt` or `result.txt` says. */
export type StatedReward = { reward: number } | { reward: null; outcome: Outcome; error: string };

/** DART's marks for what has no reward (reference/dart-and-arpo.md §1.3). */
const MARKS: Readonly<Record<string, StatedReward>> = {
  '-1': { reward: null, outcome: 'evaluator_error', error: 'the evaluator failed (reward -1)' },
  '-2': { reward: null, outcome: 'policy_error', error: 'the model failed (reward -2)' },
};
const WORDS: Readonly<Record<string, number>> = { true: 1, false: 0 };

/**
 * A score from its file: a number from 0 to 1, `True` or `False` as Python prints them, DART's −1 and −2; null for an
 * empty file (its writer was stopped).
 * @throws DartError for anything else.
 */
export function parseReward(text: string, where: string): StatedReward | null {
  const word = text.trim().toLowerCase();
  if (word === '') return null;
  const reward = WORDS[word] ?? Number(word);
  const mark = MARKS[String(reward)];
  if (mark) return mark;
  if (!Number.isFinite(reward)) {
    throw new DartError(`the reward is ${JSON.stringify(text.trim().slice(0, 40))}, not a number`, {
      where,
      hint: 'a number from 0 to 1',
    });
  }
  if (reward < 0 || reward > 1) {
    throw new DartError(`the reward ${reward} is not within 0..1`, { where, hint: 'a number from 0 to 1' });
  }
  return { reward };
}
