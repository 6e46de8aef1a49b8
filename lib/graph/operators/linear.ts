import { broadcastShapes } from '../dims.ts';
import { gemm, matmul, reduceSum, reshape, scale, swapLast, transpose } from '../functions.ts';
import type { Dim } from '../types.ts';
import { floatAttribute, intAttribute } from '../types.ts';
import type { Value } from '../value.ts';
import { shapeOf } from '../value.ts';
import { unbroadcast } from './broadcast.ts';
import type { GradientContext, InferContext, Inferred, Operator } from './operator.ts';
import { inputOf } from './operator.ts';

function inferMatMul(context: InferContext): Inferred[] {
  const [a, b] = [inputOf(context, 0), inputOf(context, 1)];
  if (!a.shape || !b.shape) return [{ dtype: a.dtype, shape: null }];
  const left = a.shape.length === 1 ? [1, ...a.shape] : a.shape;
  const right = b.shape.length === 1 ? [...b.shape, 1] : b.shape;
  const batch = broadcastShapes(left.slice(0, -2), right.slice(0, -2));
  const rows = a.shape.length === 1 ? [] : [left.at(-2)!];
  const columns = b.shape.length === 1 ? [] : [right.at(-1)!];
  return [{ dtype: a.dtype, shape: [...batch, ...rows, ...columns] }];
}

/** `[..., K]` as a matrix `[rows, K]`. */
function rowsOf(x: Value): Value {
  const dims = shapeOf(x);
  if (dims.length === 2) return x;
  const last = dims.at(-1);
  // A last extent that is only a name cannot stand in a constant shape.
  if (typeof last !== 'number') throw new RangeError(`the last extent of '${x.name}' is not a number`);
  return reshape(x, [-1, last]);
}

/**
 * Y = A·B: dA = dY·Bᵀ, dB = Aᵀ·dY. Where B is one matrix for a whole batch, dB is one product over all rows, which is
 * far cheaper than a product per batch member and a sum.
 */
function matMulGradient(context: GradientContext): (Value | null)[] {
  const [rankA, rankB] = [context.inputShape(0).length, context.inputShape(1).length];
  if (rankA < 2 || rankB < 2) throw new RangeError('vectors as inputs have no gradient here');
  const grad = context.grad();
  const dA = () => unbroadcast(matmul(grad, swapLast(context.input(1))), context, 0);
  const shared = () => gemm(rowsOf(context.input(0)), rowsOf(grad), { transA: true });
  const batched = () => unbroadcast(matmul(swapLast(context.input(0)), grad), context, 1);
  return [context.wants(0) ? dA() : null, context.wants(1) ? (rankB === 2 ? shared() : batched()) : null];
}

function inferGemm(context: InferContext): Inferred[] {
  const [a, b] = [inputOf(context, 0), inputOf(context, 1)];
  if (!a.shape || !b.shape) return [{ dtype: a.dtype, shape: null }];
  const rows = a.shape[intAttribute(context.node, 'transA', 0) ? 1 : 0]!;
  const columns = b.shape[intAttribute(context.node, 'transB', 0) ? 0 : 1]!;
  return [{ dtype: a.dtype, shape: [rows, columns] }];
}

/** Y = α·op(A)·op(B) + β·C. */
function gemmGradient(context: GradientContext): (Value | null)[] {
  const { node } = context;
  const [transA, transB] = [intAttribute(node, 'transA', 0) === 1, intAttribute(node, 'transB', 0) === 1];
  const [alpha, beta] = [floatAttribute(node, 'alpha', 1), floatAttribute(node, 'beta', 1)];
  const scaled = (x: Value, factor: number) => (factor === 1 ? x : scale(x, factor));
  const grad = scaled(context.grad(), alpha);
  const dA = () => {
    const b = context.input(1);
    return transA ? gemm(b, grad, { transA: transB, transB: true }) : gemm(grad, b, { transB: !transB });
  };
  const dB = () => {
    const a = context.input(0);
    return transB ? gemm(grad, a, { transA: true, transB: transA }) : gemm(a, grad, { transA: !transA });
  };
  const dC = () => unbroadcast(scaled(context.grad(), beta), context, 2);
  return [dA, dB, dC].slice(0, node.inputs.length).map((make, index) => (context.wants(index) ? make() : null));
}

interface ConvShape {
  kernel: number[];
  pads: number[];
}

/** Stride 1, dilation 1, one group: what has a gradient here. */
function plainConv(node: InferContext['node'], weight: readonly Dim[]): ConvShape {
  const spatial = weight.slice(2);
  if (!spatial.every((extent) => typeof extent === 'number')) throw new RangeError('its kernel has no fixed size');
  const list = (name: string, fallback: number[]) => {
    const attribute = node.attributes[name];
    return attribute && 'ints' in attribute ? attribute.ints : fallback;
  };
  const ones = spatial.map(() => 1);
  const strided = [...list('strides', ones), ...list('dilations', ones)].some((step) => step !== 1);
  const auto = node.attributes.auto_pad;
  const automatic = auto !== undefined && 'string' in auto && auto.string !== 'NOTSET';
  if (strided || automatic || intAttribute(node, 'group', 1) !== 1) {
    throw new RangeError('strides, dilations, groups and automatic padding have no gradient here');
  }
  return {
    kernel: spatial,
    pads: list(
      'pads',
      [...spatial, ...spatial].map(() => 0),
    ),
  };
}

function inferConv(context: InferContext): Inferred[] {
  const [x, weight] = [inputOf(context, 0), inputOf(context, 1)];
  if (!x.shape || !weight.shape) return [{ dtype: x.dtype, shape: null }];
  const rank = x.shape.length - 2;
  const list = (name: string, fallback: number) => {
    const attribute = context.node.attributes[name];
    return attribute && 'ints' in attribute ? attribute.ints : new Array<number>(2 * rank).fill(fallback);
  };
  const [strides, dilations, pads] = [list('strides', 1), list('dilations', 1), list('pads', 0)];
  const spatial = x.shape.slice(2).map((extent, axis): Dim => {
    const kernel = weight.shape![axis + 2];
    if (typeof extent !== 'number' || typeof kernel !== 'number') return `${context.node.outputs[0]}[${axis + 2}]`;
    const span = dilations[axis]! * (kernel - 1) + 1;
    return Math.floor((extent + pads[axis]! + pads[axis + rank]! - span) / strides[axis]!) + 1;
  });
  return [{ dtype: x.dtype, shape: [x.shape[0]!, weight.shape[0]!, ...spatial] }];
}

/**
 * dX is a convolution of dY with the mirrored kernel, in and out channels exchanged; dW one of X with dY, where batch
 * and channel change places. Mirroring is a pair of Slices with negative steps.
 */
function convGradient(context: GradientContext): (Value | null)[] {
  const { node } = context;
  const { kernel, pads } = plainConv(node, context.inputShape(1));
  const grad = context.grad();
  const rank = kernel.length;
  const swap = [1, 0, ...kernel.map((_, axis) => axis + 2)];
  const convolve = (x: Value, weight: Value, padding: number[]) =>
    x.builder.emit('Conv', [x, weight], { pads: { ints: padding } })[0]!;
  const dX = () => {
    const weight = context.input(1);
    const at = (values: number[]) =>
      weight.builder.constant({ dtype: 'int64', shape: [rank], data: BigInt64Array.from(values, BigInt) });
    const axes = kernel.map((_, axis) => axis + 2);
    const steps = kernel.map(() => -1);
    const inputs = [weight, at(steps), at(kernel.map(() => -(2 ** 31))), at(axes), at(steps)];
    const [mirrored] = weight.builder.emit('Slice', inputs);
    const full = [...pads.keys()].map((i) => kernel[i % rank]! - 1 - pads[i]!);
    return convolve(grad, transpose(mirrored!, swap), full);
  };
  const dW = () => transpose(convolve(transpose(context.input(0), swap), transpose(grad, swap), pads), swap);
  const dB = () => reduceSum(grad, [0, ...kernel.map((_, axis) => axis + 2)]);
  return [dX, dW, dB].slice(0, node.inputs.length).map((make, index) => (context.wants(index) ? make() : null));
}

export const LINEAR: Record<string, Operator> = {
  MatMul: { infer: inferMatMul, gradient: matMulGradient },
  Gemm: { infer: inferGemm, gradient: gemmGradient },
  Conv: { infer: inferConv, gradient: convGradient },
};
