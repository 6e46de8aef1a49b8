import {
  add,
  cast,
  concat,
  div,
  exp,
  gather,
  greater,
  matmul,
  maximum,
  mul,
  pad,
  reduceSum,
  relu,
  reshape,
  scalar,
  scale,
  slice,
  softmax,
  split,
  squeeze,
  swapLast,
  unsqueeze,
} from '../../graph/functions.ts';
import { float32 } from '../../graph/types.ts';
import type { Value } from '../../graph/value.ts';
import { CELL, gridOf } from './config.ts';
import { WORD_CHARACTERS, WORD_IDENTITY, WORD_IDS } from './features.ts';
import type { Net } from './net.ts';
import { normed } from './net.ts';
import { TOKEN } from './tokens.ts';
import { fromPixels } from './vision.ts';

/** What the blank after a word counts, a letter being 1. */
const BLANK_WEIGHT = 0.2;

/**
 * What letter each half of a cell shows [B, 2·cells, letterWidth]. The halves go through the same matrix: as one matrix for
 * the whole cell, block by block.
 */
export function seeLetters(net: Net, pixels: Value): Value {
  const { glyphWidth } = net.config;
  const side = (CELL / 2) * 3;
  const rows = reshape(net.weight('reading.glyph.weight'), [CELL, side, glyphWidth]);
  const blocks = [pad(rows, [0, 0, 0], [0, side, 0]), pad(rows, [0, side, 0], [0, 0, 0])];
  const matrix = reshape(concat(blocks, 2), [CELL * CELL * 3, 2 * glyphWidth]);
  const bias = net.weight('reading.glyph.bias');
  const glyphs = relu(fromPixels(pixels, matrix, concat([bias, bias], 0)));
  const halves = reshape(glyphs, [0, 2 * gridOf(net.config).cells, glyphWidth]);
  return normed(net, matmul(halves, net.weight('reading.code')), 'reading.code');
}

/** Character codes [B, words, wordLength]. */
export function lettersOf(words: Value): Value {
  return slice(words, [{ axis: 2, start: WORD_IDENTITY }]);
}

/**
 * How well each word fits at each place of the screen: its first letters are laid over the text at every character, two
 * at a time since cells hold two, and the mean likeness of the letters counts.
 * @returns scores [B, words, 2·cells + 1]: words that begin in the left half of each cell, in the right half, nowhere
 */
export function wordScores(net: Net, words: Value, letters: Value): Value {
  const { config } = net;
  const { cells } = gridOf(config);
  const pairs = config.matched / 2;
  const both = 2 * config.letterWidth;
  const b = words.builder;
  const codes = slice(lettersOf(words), [{ axis: 2, start: 0, end: config.matched }]);
  const zero = b.constant({ dtype: 'int32', shape: [], data: Int32Array.of(0) });
  const letter = cast(greater(codes, zero), 'float32');
  // That nothing follows the last letter counts a little: `b` is not the beginning of `bold`.
  const there = add(scale(letter, 1 - BLANK_WEIGHT), scale(pad(letter, [0, 0, 1], [0, 0, -1]), BLANK_WEIGHT));
  const length = maximum(reduceSum(there, [2], true), scalar(there, 1));
  const table = normed(net, net.weight('reading.letter'), 'reading.letter');
  const wanted = mul(gather(table, codes), unsqueeze(div(there, length), [3]));
  const queries = reshape(wanted, [0, config.words * pairs, both]);
  // Text may begin in either half of a cell: first all pairs that begin in the left half, then in the right.
  const flat = reshape(letters, [0, 2 * cells * config.letterWidth]);
  const odd = pad(slice(flat, [{ axis: 1, start: config.letterWidth }]), [0, 0], [0, config.letterWidth]);
  const text = reshape(concat([flat, odd], 1), [0, 2 * cells, both]);
  const likeness = reshape(matmul(queries, swapLast(text)), [0, config.words, pairs, 2, cells]);
  const sums = split(likeness, new Array<number>(pairs).fill(1), 2).map((part, i) => {
    const pair = squeeze(part, [2]);
    return i === 0 ? pair : pad(slice(pair, [{ axis: 3, start: i }]), [0, 0, 0, 0], [0, 0, 0, i]);
  });
  const score = mul(reshape(sums.reduce(add), [0, config.words, 2 * cells]), exp(net.weight('reading.sharpness')));
  const nothing = add(scale(slice(score, [{ axis: 2, start: 0, end: 1 }]), 0), net.weight('reading.threshold'));
  return concat([score, nothing], 2);
}

/** Shares [B, words, cells] of the cells in which each word begins; a word that is not there has none. */
export function findWords(net: Net, words: Value, letters: Value): Value {
  const { cells } = gridOf(net.config);
  const [left, right] = split(softmax(wordScores(net, words, letters)), [cells, cells, 1], 2);
  return add(left!, right!);
}

/** Identity part of words [B, words, 3 + wordLength] → [B, words, width]. */
function identify(net: Net, words: Value): Value {
  const parts = slice(words, [{ axis: 2, start: 0, end: WORD_IDENTITY }]);
  const starts = Int32Array.of(0, WORD_IDS, WORD_IDS + WORD_CHARACTERS);
  const offsets = words.builder.constant({ dtype: 'int32', shape: [WORD_IDENTITY], data: starts });
  return reduceSum(gather(net.weight('words.identity'), add(parts, offsets)), [2]);
}

/** Words [B, words, width]: what each means, and what is where it stands on the screen. */
export function readWords(net: Net, words: Value, found: Value, cells: Value): Value {
  return add(identify(net, words), matmul(matmul(found, cells), net.weight('words.found')));
}

/** Rows [B, words·wordLength, texts] of what copying a letter means: its token; past the word's end, END or NEWLINE. */
export function copyTargets(net: Net, words: Value): Value {
  const codes = lettersOf(words);
  const texts = TOKEN.firstCell - TOKEN.firstCharacter;
  const rows = new Float32Array(WORD_CHARACTERS * texts);
  rows[TOKEN.end - TOKEN.firstCharacter] = 1;
  rows[TOKEN.newline - TOKEN.firstCharacter] = 1;
  for (let code = 2; code < WORD_CHARACTERS; code++) rows[code * texts + code - 2] = 1;
  const oneHot = words.builder.constant(float32(rows, [WORD_CHARACTERS, texts]), 'copy.targets');
  return gather(oneHot, reshape(codes, [0, net.config.words * net.config.wordLength]));
}
