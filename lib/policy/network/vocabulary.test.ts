import { describe, expect, it } from 'vitest';
import type { Action } from '../../stream/action.ts';
import { Random } from '../../stream/random.ts';
import { DEFAULT_CONFIG, gridOf } from './config.ts';
import { isWholeReply, replyGrammar } from './grammar.ts';
import { bosToken, TOKEN, vocabularySize } from './tokens.ts';
import { decodeReply, encodeAction, encodeReply } from './vocabulary.ts';

const { cells } = gridOf(DEFAULT_CONFIG);
const grammar = replyGrammar(cells, DEFAULT_CONFIG.replyTokens);

describe('the reply vocabulary', () => {
  it.each([
    "click(start_box='(52,36)')",
    "left_double(start_box='(4,4)')",
    "right_single(start_box='(156,116)')",
    "drag(start_box='(52,36)', end_box='(100,100)')",
    "scroll(start_box='(84,60)', direction='down')",
    "hotkey(key='ctrl s')",
    "hotkey(key='ctrl shift t')",
    "type(content='a.b-c_d=1')",
    "type(content='ls\\n')",
    "type(content='\\nsalt')",
    'wait()',
    'finished()',
    'fail()',
  ])('spells %s and reads it back', (action) => {
    const ids = encodeReply(`Action: ${action}`)!;
    expect(isWholeReply(grammar, ids)).toBe(true);
    expect(decodeReply(ids)).toBe(`Action: ${action}`);
  });

  it('gives ids that a person can check: cell 91 = row 4, column 11', () => {
    expect(encodeReply("Action: click(start_box='(92,36)')")).toEqual([0, TOKEN.firstCell + 91]);
    expect(encodeReply("Action: type(content='ab')")).toEqual([
      TOKEN.type,
      TOKEN.firstCharacter,
      TOKEN.firstCharacter + 1,
      TOKEN.end,
    ]);
    expect(encodeReply("Action: type(content='a\\n')")).toEqual([TOKEN.type, TOKEN.firstCharacter, TOKEN.newline]);
  });

  it('snaps points to the centre of their cell', () => {
    expect(decodeReply(encodeReply("Action: click(start_box='(48,39)')")!)).toBe("Action: click(start_box='(52,36)')");
  });

  it('takes the first action, and ignores the thought before it', () => {
    expect(decodeReply(encodeReply('Thought: done.\nAction: finished()')!)).toBe('Action: finished()');
  });

  it.each<Action>([
    { type: 'click', x: 160, y: 5 },
    { type: 'click', x: 5, y: -1 },
    { type: 'hotkey', keys: ['ctrl', 'alt', 'delete'] },
    { type: 'type', text: 'thirteen char' },
    { type: 'type', text: 'naïve' },
    { type: 'type', text: '' },
    { type: 'scroll', x: 4, y: 4, direction: 'left' },
    { type: 'triple_click', x: 4, y: 4 },
  ])('cannot say %j', (action) => {
    expect(encodeAction(action)).toBeNull();
  });

  it('cannot read what is no reply', () => {
    expect(encodeReply('hello')).toBeNull();
    expect(decodeReply([])).toBe('');
    expect(decodeReply([TOKEN.drag, TOKEN.firstCell])).toBe('');
  });
});

describe('the grammar', () => {
  it('leads every walk to a whole reply that reads back to the same tokens, or to the same action', () => {
    const random = new Random('walks');
    for (let walk = 0; walk < 500; walk++) {
      const ids: number[] = [];
      for (let next = grammar.next(ids); next.length > 0; next = grammar.next(ids)) {
        const allowed = next.flatMap(([from, to]) => Array.from({ length: to - from }, (_, i) => from + i));
        ids.push(random.pick(allowed));
      }
      expect(ids.length).toBeLessThanOrEqual(DEFAULT_CONFIG.replyTokens);
      expect(isWholeReply(grammar, ids)).toBe(true);
      const text = decodeReply(ids);
      if (text === "Action: type(content='')") continue;
      expect(decodeReply(encodeReply(text)!)).toBe(text);
    }
  });

  it('ends typed text at the last place', () => {
    const ids = [TOKEN.type, ...new Array<number>(12).fill(TOKEN.firstCharacter)];
    expect(grammar.next(ids)).toEqual([[TOKEN.newline, TOKEN.firstCell]]);
  });

  it('masks exclude exactly what may not follow', () => {
    const start = grammar.masks[grammar.stateOf(bosToken(cells))]!;
    expect(start[TOKEN.type]).toBe(0);
    expect(start[TOKEN.firstCharacter]).toBe(Number.NEGATIVE_INFINITY);
    const place = grammar.masks[grammar.stateOf(0)]!;
    expect(place.filter((value) => value === 0).length).toBe(300);
    expect(place.length).toBe(vocabularySize(cells));
  });

  it('knows broken replies', () => {
    expect(isWholeReply(grammar, [])).toBe(false);
    expect(isWholeReply(grammar, [0])).toBe(false);
    expect(isWholeReply(grammar, [0, TOKEN.firstCell, TOKEN.firstCell])).toBe(false);
    expect(isWholeReply(grammar, [TOKEN.firstCell])).toBe(false);
  });
});
