import { Random } from '../stream/random.ts';
import { GraphBuilder } from './builder.ts';
import { differentiate, gradientName } from './differentiate.ts';
import type { Plain } from './plain.testing.ts';
import { plain, sizeOf } from './plain.testing.ts';
import { evaluate } from './reference.testing.ts';
import { runOnnx } from './run.testing.ts';
import type { Value } from './value.ts';

export interface GradientCase {
  /** Float inputs by name; values are drawn from -1..1, or from `range`. */
  inputs: Record<string, number[]>;
  build: (inputs: Record<string, Value>, builder: GraphBuilder) => Value;
  range?: [number, number];
  opset?: number;
  /** dL/dy, the same for all elements; random numbers if left out. */
  outputGradient?: number;
  /** Declares the inputs with these dims instead of their numbers. */
  dims?: Record<string, (number | string)[]>;
}

export interface GradientCheck {
  /** Greatest differences, relative to 1 + |value|. */
  forward: number;
  /** The backward graph in onnxruntime against finite differences of the reference implementation. */
  finite: number;
  /** The backward graph in onnxruntime against the same graph in the reference implementation. */
  second: number;
  gradients: Map<string, Plain>;
}

function apart(a: Plain, b: Plain): number {
  if (a.shape.join() !== b.shape.join()) return Number.POSITIVE_INFINITY;
  return a.data.reduce((worst, value, i) => Math.max(worst, Math.abs(value - b.data[i]!) / (1 + Math.abs(value))), 0);
}

/** Builds the case's graph, differentiates L = Σ c·y for random c, and compares three ways of computing dL/dx. */
export async function checkGradient(test: GradientCase): Promise<GradientCheck> {
  const random = new Random('gradient');
  const [low, high] = test.range ?? [-1, 1];
  const builder = new GraphBuilder('case', test.opset);
  const inputs: Record<string, Value> = {};
  const feeds = new Map<string, Plain>();
  for (const [name, shape] of Object.entries(test.inputs)) {
    inputs[name] = builder.input(name, 'float32', test.dims?.[name] ?? shape);
    feeds.set(
      name,
      plain(
        shape,
        Float32Array.from({ length: sizeOf(shape) }, () => low + (high - low) * random.next()),
      ),
    );
  }
  builder.output(test.build(inputs, builder), 'y');
  const { graph } = builder;
  const wrt = Object.keys(test.inputs);
  const { backward, saved } = differentiate(graph, { of: ['y'], wrt });

  const expected = evaluate(graph, feeds);
  for (const name of saved) graph.outputs.push(graph.values.get(name)!);
  const results = await runOnnx(graph, feeds);
  const y = expected.get('y')!;
  const weights = plain(
    y.shape,
    Float32Array.from(y.data, () => test.outputGradient ?? random.next() - 0.5),
  );
  const known = new Map([...feeds, ...results, [gradientName('y'), weights]]);
  const gradients = await runOnnx(backward, known);
  const again = evaluate(backward, new Map([...feeds, ...expected, [gradientName('y'), weights]]));

  const loss = (point: ReadonlyMap<string, Plain>) =>
    evaluate(graph, point)
      .get('y')!
      .data.reduce((sum, value, i) => sum + value * weights.data[i]!, 0);
  let [finite, second] = [0, 0];
  for (const name of wrt) {
    const gradient = gradients.get(gradientName(name))!;
    finite = Math.max(finite, apart(gradient, finiteDifferences(loss, feeds, name)));
    second = Math.max(second, apart(gradient, again.get(gradientName(name))!));
  }
  return { forward: apart(results.get('y')!, y), finite, second, gradients };
}

/** Central differences in float64; the error is of the order of step². */
function finiteDifferences(
  loss: (point: Map<string, Plain>) => number,
  feeds: ReadonlyMap<string, Plain>,
  name: string,
): Plain {
  const step = 1e-4;
  const x = feeds.get(name)!;
  const moved = (i: number, by: number) => {
    const data = x.data.slice();
    data[i]! += by;
    return loss(new Map([...feeds, [name, { shape: x.shape, data }]]));
  };
  return plain(
    x.shape,
    Array.from(x.data, (_, i) => (moved(i, step) - moved(i, -step)) / (2 * step)),
  );
}
