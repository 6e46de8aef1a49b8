import { axisOf, productOf, quotientOf, sumOf } from '../dims.ts';
import { dtypeOfCode } from '../elements.ts';
import { cast, concat, pad, reshapeTo, slice, split, transpose, zerosOf } from '../functions.ts';
import type { Dim, DType } from '../types.ts';
import { intAttribute, intsAttribute } from '../types.ts';
import type { Value } from '../value.ts';
import { shapeOf } from '../value.ts';
import { unbroadcast } from './broadcast.ts';
import type { GradientContext, InferContext, Inferred, Operator } from './operator.ts';
import { inputOf } from './operator.ts';
import { axesOf, inferSlice, sliceGradient } from './slice.ts';

const unknown = (dtype: DType | null): Inferred[] => [{ dtype, shape: null }];

/** Back to the input's shape, which the forward pass knew: for everything that only rearranges extents. */
const restore = (context: GradientContext) => [reshapeTo(context.grad(), context.inputDims(0)), null];

function inferReshape(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  const target = context.contents(1);
  if (!target) {
    const rank = inputOf(context, 1).shape?.[0];
    if (typeof rank !== 'number') return unknown(x.dtype);
    return [{ dtype: x.dtype, shape: Array.from({ length: rank }, (_, i) => `${context.node.outputs[0]}[${i}]`) }];
  }
  const kept = target.map((extent, axis): Dim => (extent === 0 ? (x.shape?.[axis] ?? `${x.name}[${axis}]`) : extent));
  const rest = kept.filter((extent) => extent !== -1);
  const free = x.shape ? quotientOf(productOf(x.shape), productOf(rest)) : `${context.node.outputs[0]}[-1]`;
  return [{ dtype: x.dtype, shape: kept.map((extent) => (extent === -1 ? free : extent)) }];
}

function inferTranspose(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  if (!x.shape) return unknown(x.dtype);
  const perm = intsAttribute(context.node, 'perm') ?? x.shape.map((_, axis) => x.shape!.length - 1 - axis);
  return [{ dtype: x.dtype, shape: perm.map((axis) => x.shape![axis]!) }];
}

function transposeGradient(context: GradientContext): Value[] {
  const rank = shapeOf(context.grad()).length;
  const perm = intsAttribute(context.node, 'perm') ?? Array.from({ length: rank }, (_, axis) => rank - 1 - axis);
  return [
    transpose(
      context.grad(),
      perm.map((_, axis) => perm.indexOf(axis)),
    ),
  ];
}

function inferConcat(context: InferContext): Inferred[] {
  const inputs = context.inputs.filter((input) => input !== null);
  const { dtype } = inputOf(context, 0);
  const shapes = inputs.map((input) => input.shape);
  const first = shapes.find((dims) => dims !== null);
  const parts = inputs.map((_, index) => context.contents(index));
  const contents = parts.every((part) => part !== null) ? parts.flat() : null;
  if (!first || shapes.some((dims) => dims === null)) return [{ dtype, shape: null, contents }];
  const axis = axisOf(intAttribute(context.node, 'axis', 0), first.length);
  const total = sumOf(shapes.map((dims) => dims![axis]!));
  return [{ dtype, shape: first.map((extent, i) => (i === axis ? total : extent)), contents }];
}

/** Cuts the gradient where the inputs were joined. */
function concatGradient(context: GradientContext): (Value | null)[] {
  const grad = context.grad();
  const axis = axisOf(intAttribute(context.node, 'axis', 0), shapeOf(grad).length);
  const { inputs } = context.node;
  const extents = inputs.map((_, index) => context.inputShape(index)[axis]!);
  if (inputs.length === 1) return [grad];
  if (extents.every((extent) => typeof extent === 'number')) return split(grad, extents, axis);
  const b = grad.builder;
  // Sizes that are only names are read at run time.
  const sizes = inputs.map((_, index) => slice(context.inputDims(index), [{ axis: 0, start: axis, end: axis + 1 }]));
  return b.emit('Split', [grad, concat(sizes, 0)], { axis: { int: axis } }, inputs.length);
}

function splitSizes(context: InferContext, total: Dim, count: number): Dim[] {
  const given = intsAttribute(context.node, 'split') ?? (context.inputs[1] ? context.contents(1) : null);
  if (given) return given;
  if (typeof total !== 'number') return Array.from({ length: count }, () => quotientOf(total, count));
  const size = Math.ceil(total / count);
  return Array.from({ length: count }, (_, i) => Math.min(size, total - i * size));
}

function inferSplit(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  const { outputs } = context.node;
  if (!x.shape) return outputs.map(() => ({ dtype: x.dtype, shape: null }));
  const axis = axisOf(intAttribute(context.node, 'axis', 0), x.shape.length);
  const sizes = splitSizes(context, x.shape[axis]!, outputs.length);
  return sizes.map((size) => ({ dtype: x.dtype, shape: x.shape!.map((extent, i) => (i === axis ? size : extent)) }));
}

/** Joins the parts again; a part that the loss does not depend on is zeros. */
function splitGradient(context: GradientContext): (Value | null)[] {
  const axis = intAttribute(context.node, 'axis', 0);
  const parts = context.node.outputs.map((_, index) => {
    if (context.hasGrad(index)) return context.grad(index);
    return zerosOf(context.outputDims(index));
  });
  return [concat(parts, axis), null];
}

function padWidths(contents: readonly Dim[] | null, rank: number): number[] {
  if (contents?.length !== 2 * rank || !contents.every((width) => typeof width === 'number')) {
    throw new RangeError('its widths are not constant for every axis');
  }
  return [...contents];
}

function inferPad(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  if (!x.shape) return unknown(x.dtype);
  const widths = context.contents(1);
  const rank = x.shape.length;
  if (widths?.length !== 2 * rank)
    return [{ dtype: x.dtype, shape: x.shape.map((_, i) => `${context.node.outputs[0]}[${i}]`) }];
  return [{ dtype: x.dtype, shape: x.shape.map((extent, i) => sumOf([extent, widths[i]!, widths[i + rank]!])) }];
}

/** Padding with negative widths cuts off what padding added. */
function padGradient(context: GradientContext): (Value | null)[] {
  const mode = context.node.attributes.mode;
  if (mode && 'string' in mode && mode.string !== 'constant')
    throw new RangeError(`mode ${mode.string} has no gradient here`);
  if (context.node.inputs[3]) throw new RangeError('padding of chosen axes has no gradient here');
  const rank = shapeOf(context.grad()).length;
  const widths = padWidths(context.contents(1), rank).map((width) => -width);
  return [pad(context.grad(), widths.slice(0, rank), widths.slice(rank)), null, null];
}

function inferSqueeze(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  const contents = context.contents(0);
  if (!x.shape) return [{ dtype: x.dtype, shape: null, contents }];
  const axes = axesOf(context) ?? x.shape.flatMap((extent, axis) => (extent === 1 ? [axis] : []));
  const gone = axes.map((axis) => axisOf(axis, x.shape!.length));
  return [{ dtype: x.dtype, shape: x.shape.filter((_, axis) => !gone.includes(axis)), contents }];
}

function inferUnsqueeze(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  const contents = context.contents(0);
  const axes = axesOf(context);
  if (!x.shape || !axes) return [{ dtype: x.dtype, shape: null, contents }];
  const rank = x.shape.length + axes.length;
  const added = axes.map((axis) => axisOf(axis, rank));
  const rest = [...x.shape];
  const dims = Array.from({ length: rank }, (_, axis) => (added.includes(axis) ? 1 : rest.shift()!));
  return [{ dtype: x.dtype, shape: dims, contents }];
}

function inferExpand(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  const target = context.contents(1);
  if (!x.shape || !target) return unknown(x.dtype);
  const rank = Math.max(x.shape.length, target.length);
  const dims = Array.from({ length: rank }, (_, i): Dim => {
    const [from, to] = [x.shape![i - rank + x.shape!.length] ?? 1, target[i - rank + target.length] ?? 1];
    return from === 1 ? to : from;
  });
  return [{ dtype: x.dtype, shape: dims }];
}

function inferFlatten(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  if (!x.shape) return unknown(x.dtype);
  const axis = axisOf(intAttribute(context.node, 'axis', 1), x.shape.length);
  return [{ dtype: x.dtype, shape: [productOf(x.shape.slice(0, axis)), productOf(x.shape.slice(axis))] }];
}

function inferCast(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  const contents = context.contents(0);
  return [{ dtype: dtypeOfCode(intAttribute(context.node, 'to', 1)), shape: x.shape, contents }];
}

const moved = { recompute: 'always' } as const;

export const LAYOUT: Record<string, Operator> = {
  Reshape: { infer: inferReshape, gradient: restore, ...moved },
  Flatten: { infer: inferFlatten, gradient: (c) => restore(c).slice(0, 1), ...moved },
  Squeeze: { infer: inferSqueeze, gradient: restore, ...moved },
  Unsqueeze: { infer: inferUnsqueeze, gradient: restore, ...moved },
  Transpose: { infer: inferTranspose, gradient: transposeGradient, ...moved },
  Concat: { infer: inferConcat, gradient: concatGradient, ...moved },
  Split: { infer: inferSplit, gradient: splitGradient, ...moved },
  Slice: { infer: inferSlice, gradient: sliceGradient, ...moved },
  Pad: { infer: inferPad, gradient: padGradient, ...moved },
  Expand: { infer: inferExpand, gradient: (c) => [unbroadcast(c.grad(), c, 0), null], ...moved },
  Cast: { infer: inferCast, gradient: (c) => [cast(c.grad(), 'float32')], ...moved },
};
