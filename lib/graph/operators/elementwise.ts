import {
  add,
  cast,
  div,
  equal,
  erf,
  exp,
  greater,
  less,
  log,
  mul,
  neg,
  pow,
  scalar,
  scale,
  sign,
  sub,
  where,
} from '../functions.ts';
import { floatAttribute, stringAttribute } from '../types.ts';
import type { Value } from '../value.ts';
import { inferBroadcast, unbroadcast } from './broadcast.ts';
import type { Gradient, GradientContext, Operator } from './operator.ts';
import { likeFirst } from './operator.ts';

/** d/dx of one input, from the input x, the output y and the output's gradient. */
type Slope = (context: GradientContext, grad: Value) => Value;

const unary = (slope: Slope): Operator => ({
  infer: likeFirst,
  gradient: (context) => [slope(context, context.grad())],
});

/** Gradients of both sides of a binary operator before broadcasting is undone. */
function binary(left: Slope, right: Slope): Gradient {
  return (context) =>
    [left, right].map((slope, index) =>
      context.wants(index) ? unbroadcast(slope(context, context.grad()), context, index) : null,
    );
}

const pointwise = (gradient: Gradient, recompute: Operator['recompute'] = 'cheap'): Operator => ({
  infer: inferBroadcast(),
  gradient,
  recompute,
});

const one = (like: Value) => scalar(like, 1);
/** 1 where the condition holds, else 0. */
const mask = (condition: Value) => cast(condition, 'float32');

/** φ(x) = exp(-x²/2) / √(2π), Φ by Erf. */
function geluSlope(context: GradientContext, grad: Value): Value {
  const x = context.input(0);
  if (stringAttribute(context.node, 'approximate', 'none') !== 'none') {
    throw new RangeError('its tanh approximation has no gradient here');
  }
  const density = scale(exp(scale(mul(x, x), -0.5)), 1 / Math.sqrt(2 * Math.PI));
  const cumulative = scale(add(erf(scale(x, Math.SQRT1_2)), one(x)), 0.5);
  return mul(grad, add(cumulative, mul(x, density)));
}

/** The winner of Min and Max takes the gradient; at a tie both take half. */
function extremum(wins: (a: Value, b: Value) => Value): Gradient {
  const share = (self: number): Slope => {
    return (context, grad) => {
      const [a, b] = [context.input(self), context.input(1 - self)];
      return mul(grad, add(mask(wins(a, b)), scale(mask(equal(a, b)), 0.5)));
    };
  };
  return (context) => {
    if (context.node.inputs.length === 1) return [context.grad()];
    if (context.node.inputs.length > 2) throw new RangeError('more than two inputs have no gradient here');
    return binary(share(0), share(1))(context);
  };
}

/** Bounds may be inputs (opset 11 and later) or left out; no gradient flows to them. */
function clipGradient(context: GradientContext): (Value | null)[] {
  const x = context.input(0);
  let grad = context.grad();
  const zero = scalar(x, 0);
  if (context.node.inputs[1]) grad = where(less(x, context.input(1)), zero, grad);
  if (context.node.inputs[2]) grad = where(greater(x, context.input(2)), zero, grad);
  return [grad, null, null];
}

function powSlope(context: GradientContext, grad: Value): Value {
  const x = context.input(0);
  const exponent = context.constant(1);
  const value = exponent?.data.length === 1 ? Number(exponent.data[0]) : null;
  if (value === 2) return mul(grad, scale(x, 2));
  const power = context.input(1);
  return mul(grad, mul(power, pow(x, sub(power, one(x)))));
}

export const ELEMENTWISE: Record<string, Operator> = {
  Add: pointwise(
    binary(
      (_, grad) => grad,
      (_, grad) => grad,
    ),
  ),
  Sub: pointwise(
    binary(
      (_, grad) => grad,
      (_, grad) => neg(grad),
    ),
  ),
  Mul: pointwise(
    binary(
      (c, grad) => mul(grad, c.input(1)),
      (c, grad) => mul(grad, c.input(0)),
    ),
  ),
  Div: pointwise(
    binary(
      (c, grad) => div(grad, c.input(1)),
      (c, grad) => neg(div(mul(grad, c.output(0)), c.input(1))),
    ),
  ),
  Pow: pointwise(
    binary(powSlope, (c, grad) => mul(grad, mul(c.output(0), log(c.input(0))))),
    'save',
  ),
  Min: pointwise(extremum(less)),
  Max: pointwise(extremum(greater)),
  Sum: pointwise((c) => c.node.inputs.map((_, i) => (c.wants(i) ? unbroadcast(c.grad(), c, i) : null))),
  Where: {
    infer: (context) => {
      const [result] = inferBroadcast()(context);
      return [{ dtype: context.inputs[1]?.dtype ?? null, shape: result?.shape ?? null }];
    },
    gradient: (c) => {
      const zero = scalar(c.grad(), 0);
      const left = c.wants(1) ? unbroadcast(where(c.input(0), c.grad(), zero), c, 1) : null;
      const right = c.wants(2) ? unbroadcast(where(c.input(0), zero, c.grad()), c, 2) : null;
      return [null, left, right];
    },
  },
  Clip: { infer: likeFirst, gradient: clipGradient },
  Neg: unary((_, grad) => neg(grad)),
  Abs: unary((c, grad) => mul(grad, sign(c.input(0)))),
  Exp: unary((c, grad) => mul(grad, c.output(0))),
  Log: unary((c, grad) => div(grad, c.input(0))),
  Sqrt: unary((c, grad) => div(scale(grad, 0.5), c.output(0))),
  Reciprocal: unary((c, grad) => neg(mul(grad, mul(c.output(0), c.output(0))))),
  Erf: unary((c, grad) => mul(grad, scale(exp(neg(mul(c.input(0), c.input(0)))), 2 / Math.sqrt(Math.PI)))),
  Tanh: unary((c, grad) => mul(grad, sub(one(grad), mul(c.output(0), c.output(0))))),
  Sigmoid: unary((c, grad) => mul(grad, mul(c.output(0), sub(one(grad), c.output(0))))),
  // A product with a 0/1 mask takes half the time of Sign, and less than Where (onnxruntime 1.30, one core).
  Relu: unary((c, grad) => mul(grad, mask(greater(c.output(0), scalar(grad, 0))))),
  LeakyRelu: unary((c, grad) => {
    const alpha = floatAttribute(c.node, 'alpha', 0.01);
    return mul(grad, add(scale(mask(greater(c.input(0), scalar(grad, 0))), 1 - alpha), scalar(grad, alpha)));
  }),
  Softplus: unary((c, grad) => mul(grad, sub(one(grad), exp(neg(c.output(0)))))),
  Gelu: unary(geluSlope),
  Identity: { infer: likeFirst, gradient: (c) => [c.grad()], recompute: 'always' },
  Dropout: {
    infer: (context) => [...likeFirst(context), { dtype: 'bool', shape: context.inputs[0]?.shape ?? null }],
    // At inference dropout is the identity; training mode is not what a policy is trained in here.
    gradient: (c) => [c.grad(), null, null],
    recompute: 'always',
  },
};
