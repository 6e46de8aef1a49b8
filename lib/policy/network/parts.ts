import {
  add,
  cast,
  concat,
  gather,
  gelu,
  layerNorm,
  linear,
  matmul,
  mul,
  pad,
  reduceSum,
  relu,
  reshape,
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
import { WORD_CHARACTERS } from './features.ts';
import { TOKEN, WORD_TOKENS } from './tokens.ts';

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

/** Screen → cells [B, cells, cellWidth], each knowing what it and its neighbours show and where it is. */
export function seeScreen(net: Net, screen: Value, place: Value): Value {
  // Pixels are scaled to about -1..1; the matrix is small, so it is scaled instead of the picture.
  const matrix = scale(net.weight('vision.patch.weight'), 1 / 128);
  const shift = reduceSum(net.weight('vision.patch.weight'), [0]);
  const bias = add(net.weight('vision.patch.bias'), scale(shift, -1));
  let x = relu(add(matmul(patches(net, screen), matrix), bias));
  net.config.vision.forEach((_, layer) => {
    x = add(x, relu(neighbours(net, x, layer)));
  });
  return normed(net, add(x, place), 'vision');
}

/** Character codes [B, words, wordLength] → words [B, words, width]: the sum of a vector for each letter at its place. */
export function readWords(net: Net, codes: Value): Value {
  const { wordLength } = net.config;
  const starts = Int32Array.from({ length: wordLength }, (_, i) => i * WORD_CHARACTERS);
  const offsets = codes.builder.constant({ dtype: 'int32', shape: [wordLength], data: starts });
  return reduceSum(gather(net.weight('words.characters'), add(codes, offsets)), [2]);
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

/** One-hot rows [B, words·wordLength, texts] of what copying a letter means: its token; past the word's end, END. */
export function copyTargets(net: Net, codes: Value): Value {
  const texts = TOKEN.firstCell - TOKEN.firstCharacter;
  const rows = new Float32Array(WORD_CHARACTERS * texts);
  rows[TOKEN.end - TOKEN.firstCharacter] = 1;
  for (let code = 2; code < WORD_CHARACTERS; code++) rows[code * texts + code - 2] = 1;
  const oneHot = codes.builder.constant(float32(rows, [WORD_CHARACTERS, texts]), 'copy.targets');
  return gather(oneHot, reshape(codes, [0, net.config.words * net.config.wordLength]));
}

export interface Readout {
  cells: Value;
  /** Words as the layer before the last left them [B, words, width]. */
  words: Value;
  targets: Value;
}

/**
 * Logits [B, T, V] without grammar. Typed characters get, besides the plain head, a share from copying: which word of
 * the instruction, and which letter of it, so that names never seen before can be spelt.
 */
export function readout(net: Net, x: Value, from: Readout): Value {
  const { width, cellWidth, words, wordLength } = net.config;
  const h = normed(net, x, 'head');
  const plain = linear(h, net.weight('head.weight'), net.weight('head.bias'));
  const query = scale(matmul(h, net.weight('head.copy.query')), 1 / Math.sqrt(width));
  const word = softmax(matmul(query, swapLast(from.words)));
  const letter = softmax(matmul(h, net.weight('head.copy.position')));
  const both = reshape(mul(unsqueeze(word, [3]), unsqueeze(letter, [2])), [0, -1, words * wordLength]);
  const copied = mul(matmul(both, from.targets), net.weight('head.copy.scale'));
  const spoken = add(plain, pad(copied, [0, 0, TOKEN.firstCharacter], [0, 0, 0]));
  const pointer = scale(matmul(h, net.weight('head.pointer')), 1 / Math.sqrt(cellWidth));
  return concat([spoken, matmul(pointer, swapLast(from.cells))], 2);
}
