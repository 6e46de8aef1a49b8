import { productOf, quotientOf, sumOf } from '../dims.ts';
import type { Dim, DType } from '../types.ts';
import { intAttribute } from '../types.ts';
import { inferBroadcast } from './broadcast.ts';
import type { InferContext, Inferred, Operator } from './operator.ts';
import { inputOf, likeFirst } from './operator.ts';

/** Operators through which no gradient flows: shapes, comparisons, rounding. */
const still = (infer: Operator['infer']): Operator => ({ infer, gradient: null, recompute: 'always' });

function inferShape(context: InferContext): Inferred[] {
  const dims = inputOf(context, 0).shape;
  if (!dims) return [{ dtype: 'int64', shape: null }];
  const start = intAttribute(context.node, 'start', 0);
  const end = intAttribute(context.node, 'end', dims.length);
  const contents = dims.slice(start, end);
  return [{ dtype: 'int64', shape: [contents.length], contents }];
}

function inferConstantOfShape(context: InferContext): Inferred[] {
  const value = context.node.attributes.value;
  const dtype: DType = value && 'tensor' in value ? value.tensor.dtype : 'float32';
  return [{ dtype, shape: context.contents(0) }];
}

function inferConstant(context: InferContext): Inferred[] {
  const value = context.node.attributes.value;
  if (value && 'tensor' in value) return [{ dtype: value.tensor.dtype, shape: value.tensor.shape }];
  const { value_float, value_int } = context.node.attributes;
  if (value_float) return [{ dtype: 'float32', shape: [] }];
  return [{ dtype: value_int ? 'int64' : null, shape: value_int ? [] : null }];
}

function inferRange(context: InferContext): Inferred[] {
  const [start, limit] = [context.contents(0)?.[0], context.contents(1)?.[0]];
  const extent: Dim = start === 0 && limit !== undefined ? limit : `${context.node.outputs[0]}[0]`;
  return [{ dtype: inputOf(context, 0).dtype, shape: [extent] }];
}

function inferArg(context: InferContext): Inferred[] {
  const { shape } = inputOf(context, 0);
  const keep = intAttribute(context.node, 'keepdims', 1) === 1;
  const axis = intAttribute(context.node, 'axis', 0);
  const at = axis < 0 ? axis + (shape?.length ?? 0) : axis;
  const dims = shape?.flatMap((extent, i): Dim[] => (i !== at ? [extent] : keep ? [1] : [])) ?? null;
  return [{ dtype: 'int64', shape: dims }];
}

function inferSize(context: InferContext): Inferred[] {
  const { shape } = inputOf(context, 0);
  return [{ dtype: 'int64', shape: [], contents: shape ? [productOf(shape)] : null }];
}

/** Arithmetic on known extents, as exporters write it: `Shape → Gather → Mul → Concat → Reshape`. */
export function foldArithmetic(op: string, a: readonly Dim[], b: readonly Dim[]): Dim[] | null {
  const length = Math.max(a.length, b.length);
  const [left, right] = [a, b].map((side) => (side.length === 1 ? new Array<Dim>(length).fill(side[0]!) : side));
  if (left?.length !== length || right?.length !== length) return null;
  return left.map((x, i): Dim => {
    const y = right[i]!;
    if (op === 'Mul') return productOf([x, y]);
    if (op === 'Add') return sumOf([x, y]);
    if (op === 'Div') return quotientOf(x, y);
    return typeof x === 'number' && typeof y === 'number' ? x - y : `(${x}-${y})`;
  });
}

export const STILL: Record<string, Operator> = {
  Shape: still(inferShape),
  Size: still(inferSize),
  Constant: still(inferConstant),
  ConstantOfShape: still(inferConstantOfShape),
  Range: still(inferRange),
  ArgMax: still(inferArg),
  ArgMin: still(inferArg),
  ScatterND: { infer: likeFirst, gradient: null },
  Equal: still(inferBroadcast('bool')),
  Less: still(inferBroadcast('bool')),
  LessOrEqual: still(inferBroadcast('bool')),
  Greater: still(inferBroadcast('bool')),
  GreaterOrEqual: still(inferBroadcast('bool')),
  And: still(inferBroadcast('bool')),
  Or: still(inferBroadcast('bool')),
  Xor: still(inferBroadcast('bool')),
  Not: still((context) => [{ dtype: 'bool', shape: inputOf(context, 0).shape }]),
  Mod: still(inferBroadcast()),
  Sign: still(likeFirst),
  Floor: still(likeFirst),
  Ceil: still(likeFirst),
  Round: still(likeFirst),
  Trilu: still(likeFirst),
};
