import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { thrown } from '../errors.testing.ts';
import { GraphBuilder } from './builder.ts';
import { differentiate } from './differentiate.ts';
import * as f from './functions.ts';
import { differentiableOperators } from './operators/registry.ts';
import { plain } from './plain.testing.ts';
import { readOnnx } from './read.ts';
import { runOnnx } from './run.testing.ts';
import type { Graph } from './types.ts';
import { float32, int64 } from './types.ts';
import { writeOnnx } from './write.ts';

function smallNetwork(): Graph {
  const b = new GraphBuilder('small');
  const x = b.input('x', 'float32', ['batch', 2]);
  const w = b.initializer('w', float32([1, 2, 3, 4], [2, 2]));
  const hidden = f.relu(f.add(f.matmul(x, w), b.initializer('b', float32([0.5, -100]))));
  b.output(f.reshape(hidden, [-1, 2]), 'y');
  b.describe('note', 'ünïcode');
  return b.graph;
}

describe('an ONNX file', () => {
  it('reads back as it was written, and the same graph gives the same bytes', () => {
    const graph = smallNetwork();
    const bytes = writeOnnx(graph);
    const read = readOnnx(bytes, 'small.onnx');
    expect(read.opset).toBe(17);
    expect(read.inputs).toEqual([{ name: 'x', dtype: 'float32', shape: ['batch', 2] }]);
    expect(read.nodes).toEqual(graph.nodes);
    expect(Array.from(read.initializers.get('w')!.data as Float32Array)).toEqual([1, 2, 3, 4]);
    expect(read.initializers.get('w')!.shape).toEqual([2, 2]);
    expect(read.metadata.get('note')).toBe('ünïcode');
    expect(Buffer.from(writeOnnx(read)).equals(Buffer.from(writeOnnx(readOnnx(bytes, 'again'))))).toBe(true);
    expect(Buffer.from(writeOnnx(smallNetwork())).equals(Buffer.from(bytes))).toBe(true);
  });

  it('runs in onnxruntime: relu([1 1]·[[1 2] [3 4]] + [0.5 -100]) = [4.5 0]', async () => {
    const results = await runOnnx(smallNetwork(), new Map([['x', plain([1, 2], [1, 1])]]));
    expect(Array.from(results.get('y')!.data)).toEqual([4.5, 0]);
  });

  it.each(['int64', 'int32', 'uint8', 'bool', 'float64', 'float32'] as const)('keeps %s constants', (dtype) => {
    const b = new GraphBuilder('constants');
    const arrays = {
      int64: BigInt64Array.of(-(2n ** 40n), 7n),
      int32: Int32Array.of(-5, 7),
      uint8: Uint8Array.of(255, 7),
      bool: Uint8Array.of(1, 0),
      float64: Float64Array.of(1e300, 7),
      float32: Float32Array.of(0.5, 7),
    };
    const value = b.initializer('c', { dtype, shape: [2], data: arrays[dtype] });
    b.output(value, 'y');
    expect(readOnnx(writeOnnx(b.graph), 'x').initializers.get('c')).toEqual({ dtype, shape: [2], data: arrays[dtype] });
  });

  it('infers shapes that the file does not give, through sums and products of unknown extents', () => {
    const b = new GraphBuilder('shapes');
    const x = b.input('x', 'float32', ['n', 't', 4]);
    const joined = f.concat([x, f.slice(x, [{ axis: 1, start: 0, end: 1 }])], 1);
    b.output(f.reshape(joined, [-1, 4]), 'y');
    b.output(f.reshape(f.transpose(x, [1, 0, 2]), [0, 0, 2, 2]), 'z');
    const graph = readOnnx(writeOnnx({ ...b.graph, values: new Map() }), 'x');
    expect(graph.values.get(joined.name)?.shape).toEqual(['n', '(t+1)', 4]);
    expect(graph.values.get('z')?.shape).toEqual(['t', 'n', 2, 2]);
  });

  it.each<[string, Uint8Array, RegExp]>([
    ['empty', new Uint8Array(0), /not a whole ONNX file \(it is empty\)/],
    ['a text', new TextEncoder().encode('{"type":"task"}'), /not a whole ONNX file/],
    ['cut off', writeOnnx(smallNetwork()).subarray(0, 150), /not a whole ONNX file/],
  ])('%s is refused with its name', (_, bytes, message) => {
    const error = thrown(() => readOnnx(bytes, 'dir/policy.onnx'));
    expect(error.message).toMatch(message);
    expect(error.where).toBe('dir/policy.onnx');
    expect(error.hint).toContain('copied completely');
  });

  it('is refused wherever it is cut', () => {
    const bytes = writeOnnx(smallNetwork());
    const readable = Array.from(bytes, (_, length) => length).filter((length) => {
      try {
        const graph = readOnnx(bytes.subarray(0, length), 'x');
        // protobuf has no end mark: a cut between fields can only be seen by what is missing.
        return graph.outputs.length > 0 && graph.opset > 0;
      } catch {
        return false;
      }
    });
    expect(readable.every((length) => length > bytes.length * 0.6)).toBe(true);
  });
});

describe('docs/policy-files.md', () => {
  it('lists every operator that a gradient can pass', () => {
    const page = readFileSync(new URL('../../docs/policy-files.md', import.meta.url), 'utf8');
    const listed = /A gradient passes through\s+([\s\S]*?)\s+with these limits/.exec(page)?.[1]?.split(/,\s+/);
    expect(listed).toEqual(differentiableOperators());
  });
});

describe('differentiate', () => {
  it('names operator, node and file where there is no gradient', () => {
    const b = new GraphBuilder('unknown');
    const x = b.input('x', 'float32', [2]);
    const [y] = b.emit('Sin', [x], {}, 1, 'the sine');
    b.output(f.mul(y!, y!), 'y');
    const graph = readOnnx(writeOnnx(b.graph), 'foreign.onnx');
    const error = thrown(() => differentiate(graph, { of: ['y'], wrt: ['x'] }));
    expect(error.message).toBe('operator Sin cannot be differentiated');
    expect(error.where).toBe("foreign.onnx: node 'the sine'");
  });

  it('does not mind unknown operators that no gradient passes', () => {
    const b = new GraphBuilder('beside');
    const x = b.input('x', 'float32', [2]);
    const [sine] = b.emit('Sin', [b.input('n', 'float32', [2])], {}, 1, 'sine');
    const noise = f.reshape(sine!, [2]);
    b.output(f.mul(x, noise), 'y');
    const { saved } = differentiate(b.graph, { of: ['y'], wrt: ['x'] });
    expect(saved).toEqual(['sine:0']);
  });

  it('refuses what it cannot do right rather than guessing', () => {
    const b = new GraphBuilder('strided');
    const x = b.input('x', 'float32', [1, 1, 8]);
    const w = b.input('w', 'float32', [1, 1, 3]);
    b.output(b.emit('Conv', [x, w], { strides: { ints: [2] } })[0]!, 'y');
    expect(thrown(() => differentiate(b.graph, { of: ['y'], wrt: ['w'] })).message).toContain('strides');
    const old = { ...b.graph, opset: 11 };
    expect(thrown(() => differentiate(old, { of: ['y'], wrt: ['w'] })).message).toContain('opset 11');
  });

  it('keeps only what the backward pass reads, not what follows from it', () => {
    const b = new GraphBuilder('chain');
    const x = b.input('x', 'float32', ['n', 2]);
    const moved = f.transpose(f.reshape(x, [0, 2, 1]), [0, 2, 1]);
    b.output(f.matmul(moved, b.input('w', 'float32', [2, 3])), 'y');
    const { saved, backward } = differentiate(b.graph, { of: ['y'], wrt: ['w'] });
    expect(saved).toEqual([]);
    expect(backward.inputs.map((input) => input.name)).toEqual(['grad/y', 'x']);
    expect(backward.outputs.map((output) => output.name)).toEqual(['grad/w']);
  });

  it('sums the gradients of a tensor that is used twice', async () => {
    const b = new GraphBuilder('twice');
    const x = b.input('x', 'float32', [1]);
    b.output(f.add(f.mul(x, b.constant(float32([3]))), f.mul(x, b.constant(float32([4])))), 'y');
    const { backward } = differentiate(b.graph, { of: ['y'], wrt: ['x'] });
    const results = await runOnnx(backward, new Map([['grad/y', plain([1], [1])]]));
    expect(Array.from(results.get('grad/x')!.data)).toEqual([7]);
  });
});

const needed = (process.env.DART_TEST_REQUIRE ?? '').split(',').includes('python');

/** The reference checker of the ONNX project; `make test` asks for it where Python has the package. */
describe.skipIf(!needed)('the checker of the onnx package', () => {
  it('accepts forward and backward graphs', () => {
    const b = new GraphBuilder('checked');
    const x = b.input('x', 'float32', ['n', 4]);
    const hidden = f.layerNorm(f.gelu(f.matmul(x, b.input('w', 'float32', [4, 4]))), b.input('g', 'float32', [4]));
    const picked = f.gather(b.input('t', 'float32', [5, 4]), b.constant(int64([1, 1, 2])));
    b.output(f.softmax(f.matmul(hidden, f.swapLast(picked))), 'y');
    const { backward, saved } = differentiate(b.graph, { of: ['y'], wrt: ['w', 'g', 't'] });
    for (const name of saved) b.graph.outputs.push(b.graph.values.get(name)!);
    const dir = mkdtempSync(join(tmpdir(), 'dart-onnx-'));
    try {
      for (const [name, graph] of Object.entries({ forward: b.graph, backward })) {
        const path = join(dir, `${name}.onnx`);
        writeFileSync(path, writeOnnx(graph));
        const script =
          'import onnx, sys; onnx.checker.check_model(onnx.load(sys.argv[1]), full_check=True); print("whole")';
        expect(
          execFileSync(process.env.DART_PYTHON ?? 'python3', ['-c', script, path])
            .toString()
            .trim(),
        ).toBe('whole');
      }
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
