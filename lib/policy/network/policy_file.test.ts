import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DartError } from '../../errors.ts';
import { GraphBuilder } from '../../graph/builder.ts';
import { relu } from '../../graph/functions.ts';
import { readOnnx } from '../../graph/read.ts';
import { writeOnnx } from '../../graph/write.ts';
import { openPolicyFile, parsePolicyFile, replaceWeights, writePolicyFile } from './policy_file.ts';
import { SMALL, smallFile } from './small.testing.ts';
import { initialWeights } from './weights.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-policy-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

async function refused(bytes: Uint8Array | null, path = join(dir, 'policy.onnx')): Promise<string> {
  if (bytes) writeFileSync(path, bytes);
  const error = await openPolicyFile(path).catch((reason: unknown) => reason);
  if (!(error instanceof DartError)) throw new Error(`expected a DartError, got ${error}`);
  expect(error.where).toBe(path);
  expect(error.hint).toBeTruthy();
  return error.message;
}

const whole = writePolicyFile(SMALL, initialWeights(SMALL, 1));

describe('a policy file', () => {
  it('holds configuration and weights; what reads is frozen', async () => {
    writeFileSync(join(dir, 'policy.onnx'), whole);
    const file = await openPolicyFile(dir);
    expect(file.config).toEqual(SMALL);
    expect(file.weights.get('layer.0.self.query')).toEqual(initialWeights(SMALL, 1).get('layer.0.self.query'));
    expect(file.weights.has('reading.letter')).toBe(false);
    expect(file.frozen.has('reading.letter')).toBe(true);
  });

  it('is the same for the same seed, and another for another', () => {
    expect(Buffer.from(writePolicyFile(SMALL, initialWeights(SMALL, 1))).equals(Buffer.from(whole))).toBe(true);
    expect(Buffer.from(writePolicyFile(SMALL, initialWeights(SMALL, 2))).equals(Buffer.from(whole))).toBe(false);
  });

  it('that is not there', async () => {
    expect(await refused(null, join(dir, 'none.onnx'))).toContain('no such file');
  });

  it('that is something else, or cut off', async () => {
    expect(await refused(new TextEncoder().encode('weights!'))).toContain('not a whole ONNX file');
    expect(await refused(whole.subarray(0, whole.length / 2))).toContain('not a whole ONNX file');
    expect(await refused(new Uint8Array(0))).toContain('it is empty');
  });

  it('with other inputs or outputs', async () => {
    const b = new GraphBuilder('other');
    b.output(relu(b.input('image', 'float32', [1])), 'logits');
    expect(await refused(writeOnnx(b.graph))).toBe(
      "this ONNX model has no input 'screen', 'words', 'history', 'reply', 'rows'",
    );
    const graph = readOnnx(whole, 'x');
    graph.outputs[0]!.name = graph.nodes.at(-2)!.outputs[0]!;
    expect(await refused(writeOnnx(graph))).toBe("this ONNX model has no output 'logits'");
  });

  it('with a configuration or weights that do not belong together', async () => {
    const graph = readOnnx(whole, 'x');
    graph.metadata.set('dart.network', JSON.stringify({ ...SMALL, width: 32 }));
    expect(await refused(writeOnnx(graph))).toMatch(/^weight '.*' has shape \[.*\] instead of \[/);
    graph.metadata.set('dart.network', '{"architecture":"other"}');
    expect(await refused(writeOnnx(graph))).toContain('architecture');
    graph.metadata.set('dart.network', '{');
    expect(await refused(writeOnnx(graph))).toContain('not JSON');
  });

  it('is not written without all weights', () => {
    const weights = initialWeights(SMALL, 1);
    weights.delete('reading.letter');
    expect(() => writePolicyFile(SMALL, weights)).toThrow("weight 'reading.letter' is missing");
  });
});

describe('replaceWeights', () => {
  it('changes nothing where one value does not fit', () => {
    const { weights } = smallFile();
    const values = new Map([...weights].map(([name, { data }]) => [name, data.map(() => 7)]));
    values.set('head.bias', new Float32Array(3));
    expect(() => replaceWeights(weights, values, 'v3')).toThrow("weight 'head.bias' has 3 values");
    values.delete('head.bias');
    expect(() => replaceWeights(weights, values, 'v3')).toThrow("weight 'head.bias' is missing");
    expect(parsePolicyFile(whole, 'x').weights).toEqual(weights);
  });
});
