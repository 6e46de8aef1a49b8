import { describe, expect, it } from 'vitest';
import { GraphBuilder } from '../graph/builder.ts';
import { add } from '../graph/functions.ts';
import { readOnnx } from '../graph/read.ts';
import { float32 } from '../graph/types.ts';
import { writeOnnx } from '../graph/write.ts';
import { bakeWeights } from './bake.ts';

function policy(): Uint8Array {
  const builder = new GraphBuilder('p');
  const x = builder.input('x', 'float32', ['n', 2]);
  builder.output(add(x, builder.initializer('bias', float32([1, 2], [2]))), 'y');
  return writeOnnx(builder.graph);
}

const names = { source: 'policy.onnx', where: 'weights.safetensors' };

describe('bakeWeights', () => {
  it('replaces the weights and nothing else', () => {
    const data = Float32Array.of(3, 4);
    const baked = readOnnx(bakeWeights(policy(), new Map([['bias', { shape: [2], data }]]), names), 'x');
    expect([...(baked.initializers.get('bias')!.data as Float32Array)]).toEqual([3, 4]);
    expect(baked.nodes.map((node) => node.op)).toEqual(readOnnx(policy(), 'x').nodes.map((node) => node.op));
  });

  it('names the weight that does not fit', () => {
    const wrong = (name: string, shape: number[]) => new Map([[name, { shape, data: new Float32Array(3) }]]);
    expect(() => bakeWeights(policy(), wrong('bias', [3]), names)).toThrow("'bias' is [3] here and [2] in policy.onnx");
    expect(() => bakeWeights(policy(), wrong('other', [3]), names)).toThrow('nothing in policy.onnx');
  });
});
