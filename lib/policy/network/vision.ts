import {
  add,
  cast,
  matmul,
  pad,
  reduceSum,
  relu,
  reshape,
  scale,
  slice,
  split,
  squeeze,
  sub,
  transpose,
  unsqueeze,
} from '../../graph/functions.ts';
import type { Value } from '../../graph/value.ts';
import { CELL, gridOf } from './config.ts';
import type { Net } from './net.ts';
import { normed } from './net.ts';

/** Place of every cell [cells, cellWidth]: its row's vector plus its column's. */
export function places(net: Net): Value {
  const { cells } = gridOf(net.config);
  const sum = add(unsqueeze(net.weight('vision.row'), [1]), unsqueeze(net.weight('vision.column'), [0]));
  return reshape(sum, [cells, net.config.cellWidth]);
}

/** uint8 screen [B, height, width, 3] → one row of 192 numbers about -1..1 for each cell [B, cells, 192]. */
export function patches(net: Net, screen: Value): Value {
  const { rows, columns, cells } = gridOf(net.config);
  const blocks = reshape(screen, [0, rows, CELL, columns, CELL * 3]);
  return cast(reshape(transpose(blocks, [0, 1, 3, 2, 4]), [0, cells, CELL * CELL * 3]), 'float32');
}

/**
 * `x·W/128 + b − Σ W`: pixels 0..255 taken as −1..1, which is done on the matrix since that is smaller than the picture.
 */
export function fromPixels(pixels: Value, weight: Value, bias: Value): Value {
  const shifted = sub(bias, reduceSum(weight, [0]));
  return add(matmul(pixels, scale(weight, 1 / 128)), shifted);
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

/** Cells [B, cells, cellWidth], each knowing what it and its neighbours show and where it is. */
export function seeCells(net: Net, pixels: Value, place: Value): Value {
  let x = relu(fromPixels(pixels, net.weight('vision.patch.weight'), net.weight('vision.patch.bias')));
  net.config.vision.forEach((_, layer) => {
    x = add(x, relu(neighbours(net, x, layer)));
  });
  return normed(net, add(x, place), 'vision');
}
