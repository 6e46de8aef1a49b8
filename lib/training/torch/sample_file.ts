import { conversationOf } from '../../policy/openai/prompt.ts';
import type { Coordinates } from '../../policy/policy.ts';
import { type Batch, type Episode, examplesOf } from '../engine.ts';
import type { Example } from '../examples.ts';

/** A batch as the ranks read it: one example a line, and how episodes belong together. */
export interface SampleFile {
  text: string;
  /** Numbers of the chosen and of the rejected episode of each pair (dpo). */
  pairs: [number, number][] | null;
  /** Whether each episode is a desirable one, by its number (kto). */
  labels: boolean[] | null;
}

/** The examples of a batch. An episode that stands in several pairs is written once. */
export function sampleFileOf(batch: Batch, coordinates: Coordinates): SampleFile {
  if (batch.kind !== 'dpo' && batch.kind !== 'kto') {
    return { text: linesOf(examplesOf(batch), coordinates), pairs: null, labels: null };
  }
  const lines: string[] = [];
  const numbers = new Map<string, number>();
  const numberOf = (episode: Episode): number => {
    const key = episode.map(({ id }) => id).join('\n');
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(key, number);
    lines.push(linesOf(episode, coordinates, number));
    return number;
  };
  if (batch.kind === 'dpo') {
    const pairs = batch.units.map((pair): [number, number] => [numberOf(pair.chosen), numberOf(pair.rejected)]);
    return { text: lines.join(''), pairs, labels: null };
  }
  const labels: boolean[] = [];
  for (const { episode, label } of batch.units) labels[numberOf(episode)] = label;
  return { text: lines.join(''), pairs: null, labels };
}

/** Examples as lines, for passes that ask nothing of their episodes. */
export function linesOf(examples: readonly Example[], coordinates: Coordinates, episode = -1): string {
  return examples.map((example) => `${JSON.stringify(lineOf(example, coordinates, episode))}\n`).join('');
}

/** Tokens that the policy did not report are left to the ranks: the checkpoint's own tokenizer spells the reply. */
function lineOf(example: Example, coordinates: Coordinates, episode: number): object {
  const { instruction, history, earlierScreenshots, screenshot, tokenised } = example;
  const frames = [...earlierScreenshots, screenshot];
  return {
    id: example.id,
    where: example.where,
    messages: conversationOf({ instruction, history, frames }, coordinates, (sha256) => ({ type: 'image', sha256 })),
    prompt_ids: example.promptIds,
    reply: example.text,
    finish: example.finishReason,
    reply_ids: tokenised ? null : [...example.tokens],
    // JSON makes null of NaN, which is what an unscored token is.
    rollout_logp: tokenised ? null : [...example.rolloutLogp],
    advantage: example.advantage,
    temperature: example.temperature,
    episode,
  };
}
