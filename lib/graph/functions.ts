import { axisOf } from './dims.ts';
import type { DType } from './types.ts';
import { float32, int64 } from './types.ts';
import type { Value } from './value.ts';
import { shapeOf } from './value.ts';

/**
 * One function per ONNX operator, for graphs written by hand (https://onnx.ai/onnx/operators/). Each adds one node
 * to the graph of its first argument, or a few where ONNX has no such operator.
 */
const CODES: Partial<Record<DType, number>> = { float32: 1, uint8: 2, int32: 6, int64: 7, bool: 9, float64: 11 };

function one(values: Value[]): Value {
  const [value] = values;
  if (!value) throw new RangeError('a node without outputs');
  return value;
}

const unary = (op: string) => (x: Value) => one(x.builder.emit(op, [x]));
const binary = (op: string) => (a: Value, b: Value) => one(a.builder.emit(op, [a, b]));

export const neg = unary('Neg');
export const abs = unary('Abs');
export const sign = unary('Sign');
export const sqrt = unary('Sqrt');
export const exp = unary('Exp');
export const log = unary('Log');
export const erf = unary('Erf');
export const tanh = unary('Tanh');
export const sigmoid = unary('Sigmoid');
export const relu = unary('Relu');
export const reciprocal = unary('Reciprocal');
export const identity = unary('Identity');
export const shape = unary('Shape');
export const not = unary('Not');

export const add = binary('Add');
export const sub = binary('Sub');
export const mul = binary('Mul');
export const div = binary('Div');
export const pow = binary('Pow');
export const minimum = binary('Min');
export const maximum = binary('Max');
export const equal = binary('Equal');
export const less = binary('Less');
export const greater = binary('Greater');
/** `[..., M, K] x [..., K, N]`, as numpy's matmul. */
export const matmul = binary('MatMul');

/** A float32 scalar of the graph of `like`. */
export function scalar(like: Value, value: number): Value {
  return like.builder.constant(float32([value], []));
}

/** `factor · x`. */
export function scale(x: Value, factor: number): Value {
  return mul(x, scalar(x, factor));
}

/** `x·Φ(x)` through Erf: opset 17 has no Gelu. */
export function gelu(x: Value): Value {
  const phi = add(erf(scale(x, Math.SQRT1_2)), scalar(x, 1));
  return scale(mul(x, phi), 0.5);
}

/** `A·B (+ C)` of matrices, either of them transposed. */
export function gemm(a: Value, b: Value, options: { transA?: boolean; transB?: boolean; c?: Value } = {}): Value {
  const attributes = { transA: { int: options.transA ? 1 : 0 }, transB: { int: options.transB ? 1 : 0 } };
  return one(a.builder.emit('Gemm', options.c ? [a, b, options.c] : [a, b], attributes));
}

/** `x·W + b` over the last axis. */
export function linear(x: Value, weight: Value, bias?: Value): Value {
  const product = matmul(x, weight);
  return bias ? add(product, bias) : product;
}

/** Along `axis`; same shape. */
export function softmax(x: Value, axis = -1): Value {
  return one(x.builder.emit('Softmax', [x], { axis: { int: axis } }));
}

/** Along `axis`; same shape. */
export function logSoftmax(x: Value, axis = -1): Value {
  return one(x.builder.emit('LogSoftmax', [x], { axis: { int: axis } }));
}

/** Over the last axis. */
export function layerNorm(x: Value, gain: Value, bias?: Value, epsilon = 1e-5): Value {
  const inputs = bias ? [x, gain, bias] : [x, gain];
  return one(x.builder.emit('LayerNormalization', inputs, { axis: { int: -1 }, epsilon: { float: epsilon } }));
}

/** Entries of `table` along `axis`: `[V, D]` and indices `[B, T]` → `[B, T, D]`. */
export function gather(table: Value, indices: Value, axis = 0): Value {
  return one(table.builder.emit('Gather', [table, indices], { axis: { int: axis } }));
}

/** Tensors that differ only along `axis`, one after the other. */
export function concat(parts: readonly Value[], axis: number): Value {
  const [first] = parts;
  if (!first) throw new RangeError('concat of nothing');
  return one(first.builder.emit('Concat', parts, { axis: { int: axis } }));
}

export interface Range {
  axis: number;
  start: number;
  /** Exclusive; left out: to the end. */
  end?: number;
}

/** A part of each named axis; the other axes whole. */
export function slice(x: Value, ranges: readonly Range[]): Value {
  const at = (values: number[]) => x.builder.constant(int64(values));
  const inputs = [
    x,
    at(ranges.map((range) => range.start)),
    at(ranges.map((range) => range.end ?? Number.MAX_SAFE_INTEGER)),
    at(ranges.map((range) => range.axis)),
  ];
  return one(x.builder.emit('Slice', inputs));
}

/** Parts of the given sizes along `axis`. */
export function split(x: Value, sizes: readonly number[], axis: number): Value[] {
  return x.builder.emit('Split', [x, x.builder.constant(int64(sizes))], { axis: { int: axis } }, sizes.length);
}

/** Zeros around: `before[i]` and `after[i]` along axis i; negative numbers cut off. */
export function pad(x: Value, before: readonly number[], after: readonly number[]): Value {
  return one(x.builder.emit('Pad', [x, x.builder.constant(int64([...before, ...after]))]));
}

/** Axis i of the result is axis `perm[i]` of `x`. */
export function transpose(x: Value, perm: readonly number[]): Value {
  return one(x.builder.emit('Transpose', [x], { perm: { ints: [...perm] } }));
}

/** The last two axes exchanged. */
export function swapLast(x: Value): Value {
  const rank = shapeOf(x).length;
  const perm = Array.from({ length: rank }, (_, axis) => axis);
  return transpose(x, [...perm.slice(0, -2), rank - 1, rank - 2]);
}

/** 0 keeps an extent, -1 is what is left. */
export function reshape(x: Value, dims: readonly number[]): Value {
  return reshapeTo(x, x.builder.constant(int64(dims)));
}

/** As `reshape`, to a shape given as an integer tensor. */
export function reshapeTo(x: Value, target: Value): Value {
  return one(x.builder.emit('Reshape', [x, target]));
}

/** With axes of extent 1 put in at these places of the result. */
export function unsqueeze(x: Value, axes: readonly number[]): Value {
  return one(x.builder.emit('Unsqueeze', [x, x.builder.constant(int64(axes))]));
}

/** Without these axes, whose extent is 1. */
export function squeeze(x: Value, axes: readonly number[]): Value {
  return one(x.builder.emit('Squeeze', [x, x.builder.constant(int64(axes))]));
}

/** Repeated to a shape given as an integer tensor, as numpy broadcasts. */
export function expand(x: Value, target: Value): Value {
  return one(x.builder.emit('Expand', [x, target]));
}

/** As another element type; `x` itself where it is of that type. */
export function cast(x: Value, to: DType): Value {
  const code = CODES[to];
  if (code === undefined) throw new RangeError(`cast to ${to} is not offered`);
  return x.dtype === to ? x : one(x.builder.emit('Cast', [x], { to: { int: code } }));
}

/** Entries of `a` where `condition` holds, else of `b`; broadcast. */
export function where(condition: Value, a: Value, b: Value): Value {
  return one(condition.builder.emit('Where', [condition, a, b]));
}

/** Entries moved into `[low, high]`. */
export function clip(x: Value, low: number, high: number): Value {
  return one(x.builder.emit('Clip', [x, scalar(x, low), scalar(x, high)]));
}

/** Sum over these axes; `keepDims` leaves them with extent 1. */
export function reduceSum(x: Value, axes: readonly number[], keepDims = false): Value {
  const inputs = [x, x.builder.constant(int64(axes))];
  return one(x.builder.emit('ReduceSum', inputs, { keepdims: { int: keepDims ? 1 : 0 } }));
}

/** Axes are an attribute up to opset 17 and an input from 18 on. */
export function reduceMean(x: Value, axes: readonly number[], keepDims = false): Value {
  const keepdims = { int: keepDims ? 1 : 0 };
  if (x.builder.opset < 18) return one(x.builder.emit('ReduceMean', [x], { axes: { ints: [...axes] }, keepdims }));
  return one(x.builder.emit('ReduceMean', [x, x.builder.constant(int64(axes))], { keepdims }));
}

/** Images `[B, C, H, W]`, weights `[M, C / group, kH, kW]`. `pads`: begin of each axis, then end. */
export function conv(x: Value, weight: Value, bias?: Value, pads: readonly number[] = [0, 0, 0, 0]): Value {
  const inputs = bias ? [x, weight, bias] : [x, weight];
  return one(x.builder.emit('Conv', inputs, { pads: { ints: [...pads] } }));
}

/** `table` with `updates` added at the rows that `indices[..., 1]` name; a row may be named several times. */
export function scatterAdd(table: Value, indices: Value, updates: Value): Value {
  return one(table.builder.emit('ScatterND', [table, indices, updates], { reduction: { string: 'add' } }));
}

/** Float zeros of a shape given as an integer tensor. */
export function zerosOf(dims: Value): Value {
  return one(dims.builder.emit('ConstantOfShape', [dims], { value: { tensor: float32([0]) } }));
}

/** All axes of `x` but the last, for sums over rows. */
export function leadingAxes(x: Value): number[] {
  return shapeOf(x)
    .slice(0, -1)
    .map((_, axis) => axisOf(axis, shapeOf(x).length));
}
