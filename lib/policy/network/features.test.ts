import { describe, expect, it } from 'vitest';
import { COMMON_WORDS } from './common_words.ts';
import { DEFAULT_CONFIG, gridOf } from './config.ts';
import { encodeHistory, encodeWords, HISTORY_PARTS, WORD_IDENTITY, wordsOf } from './features.ts';
import { CHARACTERS, noneToken, TOKEN } from './tokens.ts';

const width = WORD_IDENTITY + DEFAULT_CONFIG.wordLength;
const word = (instruction: string, at: number) =>
  Array.from(encodeWords(instruction).subarray(at * width, (at + 1) * width));

describe('words', () => {
  it('are lower case, without quotes and final punctuation; cells of a sheet are two', () => {
    expect(wordsOf('Open "Report.txt", then press \'OK\'!', 16)).toEqual(['open', 'report.txt', 'then', 'press', 'ok']);
    expect(wordsOf('Write =b2+b3 in cell C12.', 16)).toEqual(['write', '=b2+b3', 'in', 'cell', 'c', '12']);
  });

  it('lose filler words first where there are too many', () => {
    expect(wordsOf('move the file draft to the trash', 5)).toEqual(['move', 'the', 'file', 'draft', 'trash']);
    expect(wordsOf('one two three four', 2)).toEqual(['one', 'two']);
  });

  it('of names know letters only, so that all names look alike', () => {
    const [quokka, zebra] = [word('open quokka', 1), word('open zebra', 1)];
    expect(quokka.slice(0, WORD_IDENTITY)).toEqual([1, 0, 0]);
    expect(zebra.slice(0, WORD_IDENTITY)).toEqual([1, 0, 0]);
    const code = (character: string) => 2 + CHARACTERS.indexOf(character);
    expect(zebra.slice(WORD_IDENTITY)).toEqual([...'zebra'].map(code).concat([0, 0, 0, 0, 0]));
  });

  it('of common words know which, of short ones their characters', () => {
    expect(word('open it', 0)[0]).toBe(2 + COMMON_WORDS.indexOf('open'));
    expect(word('row 7', 1).slice(0, 3)).toEqual([1, 2 + CHARACTERS.indexOf('7'), 0]);
  });

  it('that are not there are zeros', () => {
    expect(word('open', 1)).toEqual(new Array(width).fill(0));
  });
});

describe('history', () => {
  const none = noneToken(gridOf(DEFAULT_CONFIG).cells);

  it('has the newest reply last, verb and arguments', () => {
    const tokens = encodeHistory(["Action: click(start_box='(4,4)')", "Action: type(content='hello')"]);
    const rows = Array.from({ length: 6 }, (_, i) =>
      Array.from(tokens.slice(i * HISTORY_PARTS, (i + 1) * HISTORY_PARTS)),
    );
    expect(rows.slice(0, 4).flat()).toEqual(new Array(12).fill(none));
    expect(rows[4]).toEqual([0, TOKEN.firstCell, none]);
    expect(rows[5]).toEqual([TOKEN.type, TOKEN.firstCharacter + 7, TOKEN.firstCharacter + 4]);
  });

  it('keeps the latest six; what cannot be said is NONE', () => {
    const many = ['nonsense', ...new Array<string>(6).fill('Action: wait()')];
    expect(encodeHistory(many)).toEqual(encodeHistory(many.slice(1)));
    expect(encodeHistory(['nonsense'])).toEqual(encodeHistory([]));
  });
});
