import { axisOf, productOf, quotientOf } from '../dims.ts';
import { cast, div, expand, gather, scale, scatterAdd, transpose, unsqueeze, zerosOf } from '../functions.ts';
import type { Dim } from '../types.ts';
import { int64, intAttribute } from '../types.ts';
import type { Value } from '../value.ts';
import { dtypeOf, shapeOf } from '../value.ts';
import type { GradientContext, InferContext, Inferred, Operator } from './operator.ts';
import { inputOf } from './operator.ts';
import { axesOf } from './slice.ts';

function inferGather(context: InferContext): Inferred[] {
  const [table, indices] = [inputOf(context, 0), inputOf(context, 1)];
  const values = context.contents(0);
  const at = context.constant(1);
  const picked = values && at ? Array.from(at.data as ArrayLike<number | bigint>, (i) => values.at(Number(i))) : null;
  const contents = picked?.every((dim) => dim !== undefined) ? picked : null;
  if (!table.shape || !indices.shape) return [{ dtype: table.dtype, shape: null, contents }];
  const axis = axisOf(intAttribute(context.node, 'axis', 0), table.shape.length);
  const dims = [...table.shape.slice(0, axis), ...indices.shape, ...table.shape.slice(axis + 1)];
  return [{ dtype: table.dtype, shape: dims, contents }];
}

/** `table` is zeros of the rows' shape; each gradient row is added at its index. */
function scatterRows(grad: Value, indices: Value, dims: Value): Value {
  const long = dtypeOf(indices) === 'int64' ? indices : indices.builder.emit('Cast', [indices], { to: { int: 7 } })[0]!;
  return scatterAdd(zerosOf(dims), unsqueeze(long, [shapeOf(indices).length]), grad);
}

/**
 * Rows that were taken several times get the sum. Along an axis other than the first, that axis is brought to the
 * front and back again.
 */
function gatherGradient(context: GradientContext): (Value | null)[] {
  const [table, indices, grad] = [context.inputShape(0), context.input(1), context.grad()];
  const rank = table.length;
  const axis = axisOf(intAttribute(context.node, 'axis', 0), rank);
  if (axis === 0) return [scatterRows(grad, indices, context.inputDims(0)), null];
  const taken = shapeOf(indices).length;
  const all = Array.from({ length: rank - 1 + taken }, (_, i) => i);
  const front = [...all.slice(axis, axis + taken), ...all.slice(0, axis), ...all.slice(axis + taken)];
  const forward = [axis, ...Array.from({ length: rank }, (_, i) => i).filter((i) => i !== axis)];
  const dims = gather(context.inputDims(0), grad.builder.constant(int64(forward)));
  const sum = scatterRows(transpose(grad, front), indices, dims);
  return [
    transpose(
      { ...sum, shape: forward.map((i) => table[i]!) },
      forward.map((_, i) => forward.indexOf(i)),
    ),
    null,
  ];
}

function inferReduce(context: InferContext): Inferred[] {
  const x = inputOf(context, 0);
  if (!x.shape) return [{ dtype: x.dtype, shape: null }];
  const keep = intAttribute(context.node, 'keepdims', 1) === 1;
  const dims = reducedAxes(context, x.shape);
  if (!dims) return [{ dtype: x.dtype, shape: null }];
  const shapeOut = x.shape.flatMap((extent, axis): Dim[] => {
    if (!dims.includes(axis)) return [extent];
    return keep ? [1] : [];
  });
  return [{ dtype: x.dtype, shape: shapeOut }];
}

function reducedAxes(context: InferContext, dims: readonly Dim[]): number[] | null {
  const given = context.inputs[1] ?? context.node.attributes.axes;
  if (!given) return intAttribute(context.node, 'noop_with_empty_axes', 0) === 1 ? [] : dims.map((_, axis) => axis);
  return axesOf(context)?.map((axis) => axisOf(axis, dims.length)) ?? null;
}

/** The sum's gradient spread over what was summed. */
function spread(context: GradientContext, grad: Value): Value {
  const target = context.inputDims(0);
  if (intAttribute(context.node, 'keepdims', 1) === 1) return expand(grad, target);
  const dims = context.inputShape(0);
  const attribute = context.node.attributes.axes;
  const given = attribute && 'ints' in attribute ? attribute.ints : context.node.inputs[1] ? context.contents(1) : null;
  const axes = given?.map((axis) => axisOf(Number(axis), dims.length)) ?? dims.map((_, axis) => axis);
  return expand(
    unsqueeze(
      grad,
      axes.toSorted((a, b) => a - b),
    ),
    target,
  );
}

/** How many elements each mean was over: a number, or the input's size over the output's at run time. */
function meanGradient(context: GradientContext): (Value | null)[] {
  const grad = context.grad();
  const count = quotientOf(productOf(context.inputShape(0)), productOf(context.outputShape(0)));
  if (typeof count === 'number') return [spread(context, scale(grad, 1 / count)), null];
  const size = (dims: Value) => cast(grad.builder.emit('ReduceProd', [dims], { keepdims: { int: 0 } })[0]!, 'float32');
  return [spread(context, div(grad, div(size(context.inputDims(0)), size(context.outputDims(0))))), null];
}

export const INDEXING: Record<string, Operator> = {
  Gather: { infer: inferGather, gradient: gatherGradient, recompute: 'cheap' },
  ReduceSum: { infer: inferReduce, gradient: (c) => [spread(c, c.grad()), null] },
  ReduceMean: { infer: inferReduce, gradient: meanGradient },
};
