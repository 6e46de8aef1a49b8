import { axisOf } from '../dims.ts';
import { exp, leadingAxes, mul, reduceMean, reduceSum, sub } from '../functions.ts';
import { intAttribute } from '../types.ts';
import type { Value } from '../value.ts';
import type { GradientContext, InferContext, Inferred, Operator } from './operator.ts';
import { inputOf, likeFirst } from './operator.ts';

/** dX = P·(dY − Σ dY·P). */
function softmaxGradient(context: GradientContext): Value[] {
  const [y, grad] = [context.output(0), context.grad()];
  const axis = axisOf(intAttribute(context.node, 'axis', -1), context.inputShape(0).length);
  const weighted = mul(grad, y);
  // P·dY is made once: P·(dY − s) = P·dY − P·s.
  return [sub(weighted, mul(y, reduceSum(weighted, [axis], true)))];
}

/** dX = dY − softmax(X)·Σ dY. */
function logSoftmaxGradient(context: GradientContext): Value[] {
  const [y, grad] = [context.output(0), context.grad()];
  const axis = axisOf(intAttribute(context.node, 'axis', -1), context.inputShape(0).length);
  return [sub(grad, mul(exp(y), reduceSum(grad, [axis], true)))];
}

function inferLayerNorm(context: InferContext): Inferred[] {
  const { dtype, shape } = inputOf(context, 0);
  const axis = shape ? axisOf(intAttribute(context.node, 'axis', -1), shape.length) : 0;
  const statistics = shape?.map((extent, i) => (i < axis ? extent : 1)) ?? null;
  return [
    { dtype, shape },
    { dtype: 'float32', shape: statistics },
    { dtype: 'float32', shape: statistics },
  ];
}

/**
 * With x̂ = (x − mean)·r and g = dY·gain: dX = r·(g − mean(g) − x̂·mean(g·x̂)), dGain = Σ dY·x̂, dBias = Σ dY.
 * Mean and r are the operator's own optional outputs, so that they need not be computed again.
 */
function layerNormGradient(context: GradientContext): (Value | null)[] {
  const rank = context.inputShape(0).length;
  if (axisOf(intAttribute(context.node, 'axis', -1), rank) !== rank - 1) {
    throw new RangeError('only the last axis has a gradient here');
  }
  const [grad, inverse] = [context.grad(), context.output(2)];
  const normal = mul(sub(context.input(0), context.output(1)), inverse);
  const rows = leadingAxes(grad);
  const dGain = context.wants(1) ? reduceSum(mul(grad, normal), rows) : null;
  const dBias = context.wants(2) ? reduceSum(grad, rows) : null;
  if (!context.wants(0)) return [null, dGain, dBias];
  const g = mul(grad, context.input(1));
  const along = mul(normal, reduceMean(mul(g, normal), [rank - 1], true));
  return [mul(inverse, sub(sub(g, reduceMean(g, [rank - 1], true)), along)), dGain, dBias];
}

export const NORMALISE: Record<string, Operator> = {
  Softmax: { infer: likeFirst, gradient: softmaxGradient },
  LogSoftmax: { infer: likeFirst, gradient: logSoftmaxGradient },
  LayerNormalization: { infer: inferLayerNorm, gradient: layerNormGradient, recompute: 'cheap' },
};
