import { describe, expect, it } from 'vitest';
import * as f from './functions.ts';
import type { GradientCase } from './gradient.testing.ts';
import { checkGradient } from './gradient.testing.ts';
import { differentiableOperators } from './operators/registry.ts';
import { float32, int64 } from './types.ts';
import type { Value } from './value.ts';

type Inputs = Record<string, Value>;
const x23 = { x: [2, 3] };
const unary = (op: (x: Value) => Value, range?: [number, number]): GradientCase => ({
  inputs: x23,
  build: ({ x }) => op(x!),
  range,
});
/** Every kind of broadcasting: equal shapes, an extent of 1 on either side, missing leading axes. */
const broadcasts = (op: (a: Value, b: Value) => Value, range?: [number, number]): GradientCase[] =>
  [
    { a: [2, 3], b: [2, 3] },
    { a: [2, 3], b: [3] },
    { a: [1, 3], b: [2, 1] },
    { a: [3], b: [4, 2, 3] },
    { a: [], b: [2, 3] },
  ].map((inputs) => ({ inputs, build: ({ a, b }: Inputs) => op(a!, b!), range }));
const emit = (x: Value, op: string, inputs: Value[], attributes = {}, outputs = 1) =>
  x.builder.emit(op, inputs, attributes, outputs)[0]!;

const CASES: Record<string, GradientCase[]> = {
  Add: broadcasts(f.add),
  Sub: broadcasts(f.sub),
  Mul: broadcasts(f.mul),
  Div: broadcasts(f.div, [0.5, 2]),
  Pow: [unary((x) => f.pow(x, f.scalar(x, 2))), unary((x) => f.pow(x, f.scalar(x, 3))), ...broadcasts(f.pow, [0.5, 2])],
  Min: broadcasts(f.minimum),
  Max: broadcasts(f.maximum),
  Sum: [{ inputs: { a: [2, 3], b: [3], c: [2, 1] }, build: ({ a, b, c }) => emit(a!, 'Sum', [a!, b!, c!]) }],
  Where: broadcasts((a, b) => f.where(f.less(f.mul(a, b), f.scalar(a, 0.1)), a, b)),
  Clip: [unary((x) => f.clip(x, -0.5, 0.4)), unary((x) => emit(x, 'Clip', [x]))],
  Neg: [unary(f.neg)],
  Abs: [unary(f.abs)],
  Exp: [unary(f.exp)],
  Log: [unary(f.log, [0.5, 2])],
  Sqrt: [unary(f.sqrt, [0.5, 2])],
  Reciprocal: [unary(f.reciprocal, [0.5, 2])],
  Erf: [unary(f.erf, [-2, 2])],
  Tanh: [unary(f.tanh)],
  Sigmoid: [unary(f.sigmoid, [-3, 3])],
  Relu: [unary(f.relu)],
  LeakyRelu: [unary((x) => emit(x, 'LeakyRelu', [x], { alpha: { float: 0.2 } }))],
  Softplus: [unary((x) => emit(x, 'Softplus', [x]), [-3, 3])],
  Gelu: [unary(f.gelu, [-2, 2]), { inputs: x23, opset: 20, build: ({ x }) => emit(x!, 'Gelu', [x!]), range: [-2, 2] }],
  Identity: [unary(f.identity)],
  Dropout: [unary((x) => emit(x, 'Dropout', [x]))],
  MatMul: [
    { inputs: { a: [2, 3], b: [3, 4] }, build: ({ a, b }) => f.matmul(a!, b!) },
    { inputs: { a: [2, 5, 3], b: [3, 4] }, build: ({ a, b }) => f.matmul(a!, b!) },
    { inputs: { a: [2, 5, 3], b: [2, 3, 4] }, build: ({ a, b }) => f.matmul(a!, b!) },
    { inputs: { a: [2, 3], b: [2, 1, 3, 4] }, build: ({ a, b }) => f.matmul(a!, b!) },
  ],
  Gemm: [
    [false, false],
    [true, false],
    [false, true],
    [true, true],
  ].map(([transA, transB]) => ({
    inputs: { a: transA ? [3, 2] : [2, 3], b: transB ? [4, 3] : [3, 4], c: [4] },
    build: ({ a, b, c }: Inputs) =>
      emit(a!, 'Gemm', [a!, b!, c!], {
        transA: { int: Number(transA) },
        transB: { int: Number(transB) },
        alpha: { float: 0.5 },
        beta: { float: 2 },
      }),
  })),
  Conv: [
    { inputs: { x: [2, 3, 4, 5], w: [2, 3, 3, 3], b: [2] }, build: ({ x, w, b }) => f.conv(x!, w!, b, [1, 1, 1, 1]) },
    { inputs: { x: [1, 2, 5, 4], w: [3, 2, 1, 3] }, build: ({ x, w }) => f.conv(x!, w!, undefined, [0, 2, 0, 1]) },
  ],
  Softmax: [unary((x) => f.softmax(x)), unary((x) => f.softmax(x, 0))],
  LogSoftmax: [unary((x) => f.logSoftmax(x)), unary((x) => f.logSoftmax(x, 0))],
  LayerNormalization: [
    { inputs: { x: [2, 3, 4], g: [4], b: [4] }, build: ({ x, g, b }) => f.layerNorm(x!, g!, b) },
    { inputs: { x: [2, 4], g: [4] }, build: ({ x, g }) => f.layerNorm(x!, g!) },
  ],
  Reshape: [
    unary((x) => f.reshape(x, [3, -1])),
    { inputs: { x: [2, 3, 4] }, dims: { x: ['n', 't', 4] }, build: ({ x }) => f.reshape(x!, [-1, 4]) },
    // As exporters write it: Shape, Gather, Mul, Concat, Reshape.
    {
      inputs: { x: [2, 3, 4], w: [4, 2] },
      dims: { x: ['n', 't', 4] },
      build: ({ x, w }, b) => {
        const extent = (axis: number) => f.gather(f.shape(x!), b.constant(int64([axis], [])));
        const rows = f.unsqueeze(f.mul(extent(0), extent(1)), [0]);
        return f.matmul(f.reshapeTo(x!, f.concat([rows, b.constant(int64([4]))], 0)), w!);
      },
    },
  ],
  Flatten: [{ inputs: { x: [2, 3, 4] }, build: ({ x }) => emit(x!, 'Flatten', [x!], { axis: { int: 2 } }) }],
  Squeeze: [{ inputs: { x: [2, 1, 3] }, build: ({ x }) => f.squeeze(x!, [1]) }],
  Unsqueeze: [unary((x) => f.unsqueeze(x, [0, 2]))],
  Transpose: [
    { inputs: { x: [2, 3, 4] }, build: ({ x }) => f.transpose(x!, [2, 0, 1]) },
    unary((x) => emit(x, 'Transpose', [x])),
  ],
  Concat: [
    { inputs: { a: [2, 3], b: [2, 1] }, build: ({ a, b }) => f.concat([a!, b!, a!], 1) },
    { inputs: { a: [2, 3], b: [1, 3] }, dims: { a: ['n', 3] }, build: ({ a, b }) => f.concat([a!, b!], 0) },
  ],
  Split: [
    { inputs: { x: [2, 5] }, build: ({ x }) => f.split(x!, [2, 3], 1)[1]! },
    {
      inputs: { x: [2, 5] },
      build: ({ x }) => {
        const [a, b] = f.split(x!, [3, 2], 1);
        return f.mul(f.slice(a!, [{ axis: 1, start: 0, end: 2 }]), b!);
      },
    },
  ],
  Slice: [
    {
      inputs: { x: [4, 5] },
      build: ({ x }) =>
        f.slice(x!, [
          { axis: 0, start: 1, end: 3 },
          { axis: 1, start: -2 },
        ]),
    },
    { inputs: { x: [4, 5] }, dims: { x: ['n', 5] }, build: ({ x }) => f.slice(x!, [{ axis: 0, start: 1, end: 3 }]) },
    { inputs: { x: [4, 5] }, dims: { x: ['n', 5] }, build: ({ x }) => f.slice(x!, [{ axis: 0, start: -2 }]) },
  ],
  Pad: [unary((x) => f.pad(x, [1, 0], [0, 2])), unary((x) => f.pad(x, [0, -1], [2, 0]))],
  Expand: [{ inputs: { x: [3, 1] }, build: ({ x }, b) => f.expand(x!, b.constant(int64([2, 3, 4]))) }],
  Cast: [
    unary((x) => f.add(f.cast(f.greater(x, f.scalar(x, 0)), 'float32'), x)),
    unary((x) => emit(x, 'Cast', [x], { to: { int: 1 } })),
  ],
  Gather: [
    { inputs: { t: [4, 3] }, build: ({ t }, b) => f.gather(t!, b.constant(int64([2, 0, 2, 2, 1, 0], [2, 3]))) },
    { inputs: { t: [2, 4, 3] }, build: ({ t }, b) => f.gather(t!, b.constant(int64([3, 3, 0], [3])), 1) },
    {
      inputs: { t: [2, 3, 4] },
      build: ({ t }, b) => f.gather(t!, b.constant({ dtype: 'int32', shape: [], data: Int32Array.of(2) }), 2),
    },
  ],
  ReduceSum: [
    { inputs: { x: [2, 3, 4] }, build: ({ x }) => f.reduceSum(x!, [0, 2]) },
    { inputs: { x: [2, 3, 4] }, build: ({ x }) => f.reduceSum(x!, [-1], true) },
    unary((x) => emit(x, 'ReduceSum', [x])),
  ],
  ReduceMean: [
    { inputs: { x: [2, 3, 4] }, build: ({ x }) => f.reduceMean(x!, [1]) },
    { inputs: { x: [2, 3, 4] }, opset: 18, build: ({ x }) => f.reduceMean(x!, [0, 2], true) },
    { inputs: { x: [2, 3] }, dims: { x: ['n', 3] }, build: ({ x }) => f.reduceMean(x!, [0]) },
  ],
};

describe('the gradient of each operator', () => {
  it('is tested for every operator that has one', () => {
    expect(Object.keys(CASES).sort()).toEqual(differentiableOperators());
  });

  for (const [op, cases] of Object.entries(CASES)) {
    it.each(cases.map((test, i) => [i, test] as const))(`${op} %i`, async (_, test) => {
      const { forward, finite, second } = await checkGradient(test);
      expect(forward).toBeLessThan(1e-5);
      expect(finite).toBeLessThan(2e-4);
      expect(second).toBeLessThan(1e-5);
    });
  }

  it('of something simple is what a person expects: d(5x²)/dx at 3 is 30', async () => {
    const check = await checkGradient({
      inputs: { x: [1] },
      build: ({ x }, b) => f.mul(f.mul(x!, x!), b.constant(float32([5]))),
      range: [3, 3],
      outputGradient: 1,
    });
    expect(Array.from(check.gradients.get('grad/x')!.data)).toEqual([30]);
  });
});
