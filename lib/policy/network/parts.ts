import {
  add,
  concat,
  gather,
  gelu,
  linear,
  matmul,
  reduceSum,
  reshape,
  scale,
  softmax,
  split,
  swapLast,
  transpose,
} from '../../graph/functions.ts';
import type { Value } from '../../graph/value.ts';
import type { Net } from './net.ts';
import { normed } from './net.ts';
import { WORD_TOKENS } from './tokens.ts';

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

/** Two linear maps with a Gelu between: `[…, D]` → `[…, D]`. */
export function mlp(net: Net, layer: number, x: Value): Value {
  const name = `layer.${layer}.mlp`;
  const inner = gelu(linear(x, net.weight(`${name}.in.weight`), net.weight(`${name}.in.bias`)));
  return linear(inner, net.weight(`${name}.out.weight`), net.weight(`${name}.out.bias`));
}

/** LayerNorm before the attention of a layer. */
export function selfNorm(net: Net, layer: number, x: Value): Value {
  return normed(net, x, `layer.${layer}.self`);
}

/** What follows self-attention in a layer. */
export function lookAndThink(net: Net, layer: number, x: Value, cells: Value): Value {
  const looked = add(x, attendScreen(net, layer, normed(net, x, `layer.${layer}.screen`), cells));
  return add(looked, mlp(net, layer, normed(net, looked, `layer.${layer}.mlp`)));
}
