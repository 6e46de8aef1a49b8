import { LAYOUT_KERNELS } from './kernels_layout.testing.ts';
import type { Kernel, Plain } from './plain.testing.ts';
import { at, axis, broadcast, eachIndex, fill, ints, plain, sizeOf, transposed } from './plain.testing.ts';
import type { Node } from './types.ts';
import { floatAttribute, intAttribute, intsAttribute } from './types.ts';

/** Reference kernels, written from the operator specifications (https://onnx.ai/onnx/operators/), index by index. */

/** Abramowitz and Stegun 7.1.5, summed until nothing changes; beyond 6 it is ±1 in float64. */
function erf(x: number): number {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x;
  let sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
    if (n > 300) break;
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const unary =
  (f: (x: number, node: Node) => number): Kernel =>
  ([x], node) => [
    plain(
      x!.shape,
      Array.from(x!.data, (value) => f(value, node)),
    ),
  ];

const elementwise =
  (f: (...values: number[]) => number): Kernel =>
  (inputs) => {
    const given = inputs.filter((input) => input !== null);
    const shape = broadcast(given.map((input) => input.shape));
    return [fill(shape, (index) => f(...given.map((input) => at(input, index))))];
  };

function matmul(a: Plain, b: Plain): Plain {
  const inner = a.shape.at(-1)!;
  const batch = broadcast([a.shape.slice(0, -2), b.shape.slice(0, -2)]);
  return fill([...batch, a.shape.at(-2)!, b.shape.at(-1)!], (index) => {
    const lead = index.slice(0, -2);
    let sum = 0;
    for (let k = 0; k < inner; k++) sum += at(a, [...lead, index.at(-2)!, k]) * at(b, [...lead, k, index.at(-1)!]);
    return sum;
  });
}

const flip = (x: Plain, on: boolean) => (on ? transposed(x, [1, 0]) : x);

const gemm: Kernel = ([a, b, c], node) => {
  const left = flip(a!, intAttribute(node, 'transA', 0) === 1);
  const right = flip(b!, intAttribute(node, 'transB', 0) === 1);
  const [alpha, beta] = [floatAttribute(node, 'alpha', 1), floatAttribute(node, 'beta', 1)];
  const product = matmul(left, right);
  return [fill(product.shape, (index) => alpha * at(product, index) + (c ? beta * at(c, index) : 0))];
};

const conv: Kernel = ([x, w, bias], node) => {
  const spatial = x!.shape.length - 2;
  const pads = intsAttribute(node, 'pads') ?? new Array<number>(2 * spatial).fill(0);
  const kernel = w!.shape.slice(2);
  const size = kernel.map((k, i) => x!.shape[i + 2]! + pads[i]! + pads[i + spatial]! - k + 1);
  return [
    fill([x!.shape[0]!, w!.shape[0]!, ...size], ([n, m, ...place]) => {
      let sum = bias ? bias.data[m!]! : 0;
      eachIndex(w!.shape.slice(1), ([channel, ...tap]) => {
        const from = place.map((p, i) => p + tap[i]! - pads[i]!);
        if (from.some((p, i) => p < 0 || p >= x!.shape[i + 2]!)) return;
        sum += at(x!, [n!, channel!, ...from]) * at(w!, [m!, channel!, ...tap]);
      });
      return sum;
    }),
  ];
};

/** Applies `f` to every line of elements along an axis. */
function alongAxis(x: Plain, along: number, f: (line: number[]) => number[]): Plain {
  const result = plain(x.shape, x.data);
  const stride = sizeOf(x.shape.slice(along + 1));
  eachIndex(
    x.shape.map((extent, i) => (i === along ? 1 : extent)),
    (index) => {
      const start = index.reduce((sum, i, ax) => sum * x.shape[ax]! + i, 0);
      const line = f(Array.from({ length: x.shape[along]! }, (_, i) => x.data[start + i * stride]!));
      line.forEach((value, i) => {
        result.data[start + i * stride] = value;
      });
    },
  );
  return result;
}

function logSumExp(line: number[]): number {
  const top = Math.max(...line);
  return top + Math.log(line.reduce((sum, value) => sum + Math.exp(value - top), 0));
}

const softmaxLike =
  (f: (value: number, mass: number) => number): Kernel =>
  ([x], node) => [
    alongAxis(x!, axis(intAttribute(node, 'axis', -1), x!.shape.length), (line) => {
      const mass = logSumExp(line);
      return line.map((value) => f(value, mass));
    }),
  ];

const layerNorm: Kernel = ([x, gain, bias], node) => {
  const last = x!.shape.length - 1;
  const width = x!.shape[last]!;
  const epsilon = floatAttribute(node, 'epsilon', 1e-5);
  const mean = reduce(x!, [last], true, (sum, count) => sum / count);
  const variance = reduce(
    fill(x!.shape, (i) => (at(x!, i) - at(mean, i)) ** 2),
    [last],
    true,
    (sum, count) => sum / count,
  );
  const inverse = plain(
    variance.shape,
    Array.from(variance.data, (value) => 1 / Math.sqrt(value + epsilon)),
  );
  const y = fill(x!.shape, (i) => {
    const normal = (at(x!, i) - at(mean, i)) * at(inverse, i);
    return normal * gain!.data[i[last]! % width]! + (bias ? bias.data[i[last]!]! : 0);
  });
  return [y, mean, inverse];
};

function reduce(x: Plain, axes: number[], keep: boolean, finish: (sum: number, count: number) => number): Plain {
  const gone = axes.map((a) => axis(a, x.shape.length));
  const kept = x.shape.map((extent, i) => (gone.includes(i) ? 1 : extent));
  const sums = plain(kept, new Float64Array(sizeOf(kept)));
  eachIndex(x.shape, (index, flat) => {
    const to = kept.reduce((sum, extent, i) => sum * extent + (gone.includes(i) ? 0 : index[i]!), 0);
    sums.data[to]! += x.data[flat]!;
  });
  const count = sizeOf(gone.map((i) => x.shape[i]!));
  const shape = keep ? kept : x.shape.filter((_, i) => !gone.includes(i));
  return plain(
    shape,
    Array.from(sums.data, (sum) => finish(sum, count)),
  );
}

const reducing =
  (finish: (sum: number, count: number) => number): Kernel =>
  ([x, axes], node) => {
    const given = axes ? ints(axes) : intsAttribute(node, 'axes');
    const all = given ?? x!.shape.map((_, i) => i);
    return [reduce(x!, all, intAttribute(node, 'keepdims', 1) === 1, finish)];
  };

export const KERNELS: Record<string, Kernel> = {
  Add: elementwise((a, b) => a! + b!),
  Sub: elementwise((a, b) => a! - b!),
  Mul: elementwise((a, b) => a! * b!),
  Div: elementwise((a, b) => a! / b!),
  Pow: elementwise((a, b) => a! ** b!),
  Min: elementwise(Math.min),
  Max: elementwise(Math.max),
  Sum: elementwise((...values) => values.reduce((sum, value) => sum + value, 0)),
  Equal: elementwise((a, b) => Number(a === b)),
  Less: elementwise((a, b) => Number(a! < b!)),
  Greater: elementwise((a, b) => Number(a! > b!)),
  Where: elementwise((condition, a, b) => (condition ? a! : b!)),
  Clip: ([x, low, high]) => [
    plain(
      x!.shape,
      Array.from(x!.data, (v) => Math.min(high?.data[0] ?? Infinity, Math.max(low?.data[0] ?? -Infinity, v))),
    ),
  ],
  Neg: unary((x) => -x),
  Abs: unary(Math.abs),
  Sign: unary(Math.sign),
  Exp: unary(Math.exp),
  Log: unary(Math.log),
  Sqrt: unary(Math.sqrt),
  Reciprocal: unary((x) => 1 / x),
  Erf: unary(erf),
  Tanh: unary(Math.tanh),
  Sigmoid: unary((x) => 1 / (1 + Math.exp(-x))),
  Relu: unary((x) => Math.max(0, x)),
  LeakyRelu: unary((x, node) => (x < 0 ? floatAttribute(node, 'alpha', 0.01) * x : x)),
  Softplus: unary((x) => Math.log(1 + Math.exp(x))),
  Gelu: unary((x) => (x / 2) * (1 + erf(x / Math.SQRT2))),
  MatMul: ([a, b]) => [matmul(a!, b!)],
  Gemm: gemm,
  Conv: conv,
  Softmax: softmaxLike((value, mass) => Math.exp(value - mass)),
  LogSoftmax: softmaxLike((value, mass) => value - mass),
  LayerNormalization: layerNorm,
  ReduceSum: reducing((sum) => sum),
  ReduceMean: reducing((sum, count) => sum / count),
  ReduceProd: ([x]) => [plain([], [x!.data.reduce((product, value) => product * value, 1)])],
  ...LAYOUT_KERNELS,
};
