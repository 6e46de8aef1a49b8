import { broadcastAxes, broadcastShapes } from '../dims.ts';
import { reduceSum } from '../functions.ts';
import type { DType } from '../types.ts';
import type { Value } from '../value.ts';
import { shapeOf } from '../value.ts';
import type { GradientContext, InferContext, Inferred } from './operator.ts';
import { inputOf } from './operator.ts';

/** Shape rule of elementwise operators of several inputs. */
export function inferBroadcast(dtype?: DType) {
  return (context: InferContext): Inferred[] => {
    const inputs = context.inputs.filter((input) => input !== null);
    const known = inputs.every((input) => input.shape !== null);
    const result = known ? inputs.map((input) => input.shape!).reduce(broadcastShapes) : null;
    return [{ dtype: dtype ?? inputOf(context, 0).dtype, shape: result }];
  };
}

/**
 * Sums a gradient of the broadcast shape back to the shape of input `index`: leading axes disappear, axes of extent 1
 * are summed and kept.
 */
export function unbroadcast(grad: Value, context: GradientContext, index: number): Value {
  const from = context.inputShape(index);
  const to = shapeOf(grad);
  const axes = broadcastAxes(from, to);
  if (axes.length === 0) return grad;
  const lead = to.length - from.length;
  const kept = axes.filter((axis) => axis >= lead);
  const leading = axes.filter((axis) => axis < lead);
  const sum = leading.length === 0 ? grad : reduceSum(grad, leading);
  return kept.length === 0
    ? sum
    : reduceSum(
        sum,
        kept.map((axis) => axis - lead),
        true,
      );
}
