import { describe, expect, it } from 'vitest';
import { earlierReplies } from './history.ts';

const step = (text: string, unseen?: unknown) => ({
  prompt: { history: 0, ...(unseen === undefined ? {} : { unseen_replies: unseen }) },
  response: { text, token_ids: [], logprobs: [], finish_reason: 'stop' },
});

describe('earlierReplies', () => {
  const steps = [step('b', ['a']), step('c'), step('f', ['d', 'e'])];

  it('has replies without screens in their places, the newest kept', () => {
    expect(earlierReplies(steps, 0, 9)).toEqual(['a']);
    expect(earlierReplies(steps, 1, 9)).toEqual(['a', 'b']);
    expect(earlierReplies(steps, 2, 9)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect([1, 2, 3, 0].map((most) => earlierReplies(steps, 2, most))).toEqual([
      ['e'],
      ['d', 'e'],
      ['c', 'd', 'e'],
      [],
    ]);
  });

  it('reaches back to a reply that is not known', () => {
    const holed = [step('a'), step('d', ['b', null, 'c']), step('e')];
    expect(earlierReplies(holed, 1, 9)).toEqual(['c']);
    expect(earlierReplies(holed, 2, 9)).toEqual(['c', 'd']);
    expect(earlierReplies([step('a'), step('b', 'x')], 1, 9)).toEqual(['a']);
  });
});
