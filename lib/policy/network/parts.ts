import {
  add,
  cast,
  concat,
  div,
  exp,
  gather,
  gelu,
  greater,
  layerNorm,
  linear,
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
  transpose,
  unsqueeze,
} from '../../graph/functions.ts';
import { float32 } from '../../graph/types.ts';
import type { Value } from '../../graph/value.ts';
import type { NetworkConfig } from './config.ts';
import { CELL, gridOf } from './config.ts';
import { WORD_CHARACTERS, WORD_IDENTITY, WORD_IDS } from './features.ts';
import { TOKEN, WORD_TOKENS } from './tokens.ts';
import { FINDERS } from './weights.ts';

const BLANK_WEIGHT = 0.2;

/** The network's weights inside a graph that is being built. */
export type Weights = (name: string) => Value;

export interface Net {
  config: NetworkConfig;
  weight: Weights;
}

const normed = (net: Net, x: Value, name: string) =>
  layerNorm(x, net.weight(`${name}.norm.gain`), net.weight(`${name}.norm.bias`));

/** Place of every cell [cells, cellWidth]: its row's vector plus its column's. */
export function places(net: Net): Value {
  const { cells } = gridOf(net.config);
  const sum = add(unsqueeze(net.weight('vision.row'), [1]), unsqueeze(net.weight('vision.column'), [0]));
  return reshape(sum, [cells, net.config.cellWidth]);
}

/** uint8 screen [B, height, width, 3] → one row of 192 numbers about -1..1 for each cell [B, cells, 192]. */
function patches(net: Net, screen: Value): Value {
  const { rows, columns, cells } = gridOf(net.config);
  const blocks = reshape(screen, [0, rows, CELL, columns, CELL * 3]);
  return cast(reshape(transpose(blocks, [0, 1, 3, 2, 4]), [0, cells, CELL * CELL * 3]), 'float32');
}

/** Σ over offsets of the cell there times that offset's matrix; nothing lies before the first and after the last cell. */
function neighbours(net: Net, x: Value, layer: number): Value {
  const { columns, cells } = gridOf(net.config);
  const steps = net.config.vision[layer]!.map(([dx, dy]) => dy * columns + dx);
  const [low, high] = [Math.min(0, ...steps), Math.max(0, ...steps)];
  const padded = pad(x, [0, -low, 0], [0, high, 0]);
  const matrices = split(
    net.weight(`vision.${layer}.weight`),
    steps.map(() => 1),
    0,
  );
  const terms = steps.map((step, i) => {
    const shifted = slice(padded, [{ axis: 1, start: step - low, end: step - low + cells }]);
    return matmul(shifted, squeeze(matrices[i]!, [0]));
  });
  return terms.reduce(add, net.weight(`vision.${layer}.bias`));
}

export interface Sight {
  /** Cells [B, cells, cellWidth], each knowing what it and its neighbours show and where it is. */
  cells: Value;
  /** What letter each half of a cell shows [B, 2·cells, letterWidth]. */
  letters: Value;
}

/**
 * The two halves of a cell, a character each, go through the same matrix: as one matrix for the whole cell, block by
 * block. Pixels are 0..255; scaling them to about -1..1 is done on the matrix, which is smaller.
 */
function glyphMatrix(net: Net): { matrix: Value; bias: Value } {
  const half = net.config.cellWidth / 2;
  const side = (CELL / 2) * 3;
  const weight = net.weight('vision.glyph.weight');
  const rows = reshape(scale(weight, 1 / 128), [CELL, side, half]);
  const blocks = [pad(rows, [0, 0, 0], [0, side, 0]), pad(rows, [0, side, 0], [0, 0, 0])];
  const matrix = reshape(concat(blocks, 2), [CELL * CELL * 3, 2 * half]);
  const shifted = add(net.weight('vision.glyph.bias'), scale(reduceSum(weight, [0]), -1));
  return { matrix, bias: concat([shifted, shifted], 0) };
}

/** Both halves of each cell [B, cells, cellWidth], and the letters that they show [B, 2·cells, letterWidth]. */
export function seeGlyphs(net: Net, screen: Value): { glyphs: Value; letters: Value } {
  const { matrix, bias } = glyphMatrix(net);
  const glyphs = relu(add(matmul(patches(net, screen), matrix), bias));
  const halves = reshape(glyphs, [0, 2 * gridOf(net.config).cells, net.config.cellWidth / 2]);
  return { glyphs, letters: normed(net, matmul(halves, net.weight('vision.letter')), 'vision.letter') };
}

export function seeScreen(net: Net, screen: Value, place: Value): Sight {
  const { glyphs, letters } = seeGlyphs(net, screen);
  let x = glyphs;
  net.config.vision.forEach((_, layer) => {
    x = add(x, relu(neighbours(net, x, layer)));
  });
  return { cells: normed(net, add(x, place), 'vision'), letters };
}

/** Identity part of words [B, words, 3 + wordLength] → [B, words, width]. */
function identify(net: Net, words: Value): Value {
  const parts = slice(words, [{ axis: 2, start: 0, end: WORD_IDENTITY }]);
  const starts = Int32Array.of(0, WORD_IDS, WORD_IDS + WORD_CHARACTERS);
  const offsets = words.builder.constant({ dtype: 'int32', shape: [WORD_IDENTITY], data: starts });
  return reduceSum(gather(net.weight('words.identity'), add(parts, offsets)), [2]);
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
  const table = normed(net, net.weight('words.letter'), 'words.letter');
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
  const score = mul(reshape(sums.reduce(add), [0, config.words, 2 * cells]), exp(net.weight('words.sharpness')));
  const nothing = add(scale(slice(score, [{ axis: 2, start: 0, end: 1 }]), 0), net.weight('words.threshold'));
  return concat([score, nothing], 2);
}

/** Shares [B, words, cells] of the cells in which each word begins; a word that is not there has none. */
export function findWords(net: Net, words: Value, letters: Value): Value {
  const { cells } = gridOf(net.config);
  const [left, right] = split(softmax(wordScores(net, words, letters)), [cells, cells, 1], 2);
  return add(left!, right!);
}

/** Words [B, words, width]: what each means, and what is where it stands on the screen. */
export function readWords(net: Net, words: Value, found: Value, cells: Value): Value {
  return add(identify(net, words), matmul(matmul(found, cells), net.weight('words.found')));
}

/** One vector for every token id, BOS and NONE last; a cell's is made from its place. */
export function tokenTable(net: Net, place: Value): Value {
  const [said, special] = split(net.weight('tokens.embedding'), [WORD_TOKENS, 2], 0);
  return concat([said!, matmul(place, net.weight('tokens.cell')), special!], 0);
}

/** Tokens [B, history, 3] of earlier replies → [B, history, width]. */
export function readHistory(table: Value, tokens: Value): Value {
  return reduceSum(gather(table, tokens), [2]);
}

export interface KeysValues {
  /** [B, heads, tokens, width / heads] */
  keys: Value;
  values: Value;
}

const headed = (net: Net, x: Value) => {
  const { heads, width } = net.config;
  return transpose(reshape(x, [0, -1, heads, width / heads]), [0, 2, 1, 3]);
};

/** Keys and values of a layer's self-attention for normed tokens [B, T, width]. */
export function keysValues(net: Net, layer: number, x: Value): KeysValues {
  const both = matmul(x, net.weight(`layer.${layer}.self.keyvalue`));
  const [keys, values] = split(both, [net.config.width, net.config.width], 2);
  return { keys: headed(net, keys!), values: headed(net, values!) };
}

/** `mask` is added to the scores [B, heads, queries, tokens]. */
export function selfAttend(net: Net, layer: number, x: Value, seen: KeysValues, mask: Value | null): Value {
  const { heads, width } = net.config;
  const query = scale(matmul(x, net.weight(`layer.${layer}.self.query`)), Math.sqrt(heads / width));
  const scores = matmul(headed(net, query), swapLast(seen.keys));
  const share = softmax(mask ? add(scores, mask) : scores);
  const mixed = reshape(transpose(matmul(share, seen.values), [0, 2, 1, 3]), [0, -1, width]);
  return matmul(mixed, net.weight(`layer.${layer}.self.out`));
}

/**
 * Attention to the cells, which are their own keys and values: with a whole matrix on the query's side and one after
 * the mixture, matrices for keys and values would add nothing, and they are what costs, at 300 cells.
 */
export function attendScreen(net: Net, layer: number, x: Value, cells: Value): Value {
  const { cellWidth, screenHeads } = net.config;
  const query = scale(matmul(x, net.weight(`layer.${layer}.screen.query`)), 1 / Math.sqrt(cellWidth));
  const rows = reshape(query, [0, -1, cellWidth]);
  const share = softmax(matmul(rows, swapLast(cells)));
  const mixed = reshape(matmul(share, cells), [0, -1, screenHeads * cellWidth]);
  return matmul(mixed, net.weight(`layer.${layer}.screen.out`));
}

export function mlp(net: Net, layer: number, x: Value): Value {
  const name = `layer.${layer}.mlp`;
  const inner = gelu(linear(x, net.weight(`${name}.in.weight`), net.weight(`${name}.in.bias`)));
  return linear(inner, net.weight(`${name}.out.weight`), net.weight(`${name}.out.bias`));
}

export function selfNorm(net: Net, layer: number, x: Value): Value {
  return normed(net, x, `layer.${layer}.self`);
}

/** What follows self-attention in a layer. */
export function lookAndThink(net: Net, layer: number, x: Value, cells: Value): Value {
  const looked = add(x, attendScreen(net, layer, normed(net, x, `layer.${layer}.screen`), cells));
  return add(looked, mlp(net, layer, normed(net, looked, `layer.${layer}.mlp`)));
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

export interface Readout {
  cells: Value;
  /** Words as the layer before the last left them [B, words, width]. */
  words: Value;
  /** Shares of the cells in which each word begins [B, words, cells]. */
  found: Value;
  targets: Value;
  /** Rows of the places t of `head.copy.place` that the hidden states stand at [T, wordLength]. */
  letterPlaces: Value;
}

/** What copying adds to the logits of text tokens [B, T, texts]: a word of the instruction, and which letter of it. */
function copyLogits(net: Net, h: Value, from: Readout): Value {
  const { width, words, wordLength } = net.config;
  const query = scale(matmul(h, net.weight('head.copy.query')), 1 / Math.sqrt(width));
  const word = softmax(matmul(query, swapLast(from.words)));
  // Which letter follows mostly from how many were said: it starts as that and is learned from there.
  const letter = softmax(add(matmul(h, net.weight('head.copy.letter')), from.letterPlaces));
  const both = reshape(mul(unsqueeze(word, [3]), unsqueeze(letter, [2])), [0, -1, words * wordLength]);
  return mul(matmul(both, from.targets), net.weight('head.copy.scale'));
}

/** What words that stand on the screen add to the logits of cells [B, T, cells]: where one is, its row, its column. */
function findLogits(net: Net, h: Value, from: Readout): Value {
  const { width } = net.config;
  const { rows, columns, cells } = gridOf(net.config);
  const queries = reshape(scale(matmul(h, net.weight('head.find.query')), 1 / Math.sqrt(width)), [
    0,
    -1,
    FINDERS,
    width,
  ]);
  const asked = transpose(queries, [0, 2, 1, 3]);
  const share = softmax(matmul(asked, unsqueeze(swapLast(from.words), [1])));
  const [here, row, column] = split(mul(share, reshape(net.weight('head.find.scale'), [FINDERS, 1, 1])), [1, 1, 1], 1);
  const grid = reshape(from.found, [0, -1, rows, columns]);
  const at = matmul(squeeze(here!, [1]), from.found);
  const inRow = unsqueeze(matmul(squeeze(row!, [1]), reduceSum(grid, [3])), [3]);
  const inColumn = unsqueeze(matmul(squeeze(column!, [1]), reduceSum(grid, [2])), [2]);
  return add(at, reshape(add(inRow, inColumn), [0, -1, cells]));
}

/**
 * Logits [B, T, V] without grammar. Besides the plain heads, typed characters get a share from copying and cells one from
 * finding, so that names never seen before can be spelt and pointed at.
 */
export function readout(net: Net, x: Value, from: Readout): Value {
  const { cellWidth } = net.config;
  const h = normed(net, x, 'head');
  const plain = linear(h, net.weight('head.weight'), net.weight('head.bias'));
  const spoken = add(plain, pad(copyLogits(net, h, from), [0, 0, TOKEN.firstCharacter], [0, 0, 0]));
  const pointer = scale(matmul(h, net.weight('head.pointer')), 1 / Math.sqrt(cellWidth));
  return concat([spoken, add(matmul(pointer, swapLast(from.cells)), findLogits(net, h, from))], 2);
}
