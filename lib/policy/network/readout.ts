import {
  add,
  concat,
  linear,
  matmul,
  mul,
  pad,
  reduceSum,
  reshape,
  scale,
  softmax,
  split,
  squeeze,
  swapLast,
  transpose,
  unsqueeze,
} from '../../graph/functions.ts';
import type { Value } from '../../graph/value.ts';
import { gridOf } from './config.ts';
import type { Net } from './net.ts';
import { normed } from './net.ts';
import { TOKEN } from './tokens.ts';
import { FINDERS } from './weights.ts';

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
