import { describe, expect, it } from 'vitest';
import { readReply } from './read_reply.ts';

const convention = { screen: { width: 100, height: 100 }, coordinates: 'absolute' } as const;
const actionsOf = (text: string) => readReply({ text, finishReason: 'stop' }, convention).actions;

describe('what of a reply is played', () => {
  it('is nothing where it was cut off', () => {
    const read = readReply({ text: 'Action: wait()', finishReason: 'length' }, convention);
    expect(read).toMatchObject({ actions: [], parseError: 'the reply was cut off at its token limit' });
  });

  it('ends with the action that ends the episode', () => {
    expect(actionsOf('Action: wait()\nfinished()\nclick(1,2)')).toEqual([{ type: 'wait' }, { type: 'finished' }]);
    expect(actionsOf('Action: fail()\nfinished()')).toEqual([{ type: 'fail' }]);
  });

  it.each([
    ['wait(seconds=1e9)', { type: 'wait', ms: 60_000 }],
    ['wait(ms=59999.5)', { type: 'wait', ms: 59_999.5 }],
    ['time.sleep(3600)', { type: 'wait', ms: 60_000 }],
    ["scroll(direction='up', amount=100000)", { type: 'scroll', direction: 'up', amount: 1000 }],
  ])('ends in sensible time: %s', (text, action) => expect(actionsOf(text)).toEqual([action]));
});
