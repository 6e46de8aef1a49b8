import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Frame } from '../guest/guest.ts';
import { sha256Of } from '../stream/sha256.ts';
import { DEFAULT_CONFIG } from './network/config.ts';
import { writePolicyFile } from './network/policy_file.ts';
import { DamagedFile } from './network/published.ts';
import { writeSafetensors } from './network/safetensors.ts';
import { initialWeights } from './network/weights.ts';
import { OnnxPolicy } from './onnx.ts';
import { someRequest } from './request.testing.ts';

const grey = (shade: number): Frame => {
  const rgb = new Uint8Array(160 * 120 * 3).fill(shade);
  return { width: 160, height: 120, rgb: () => rgb, png: () => new Uint8Array() };
};
const request = (seed: number, more = {}) =>
  someRequest({ seed, frames: [grey(seed)], instruction: 'open the file draft', ...more });

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-onnx-'));
  writeFileSync(join(dir, 'policy.onnx'), writePolicyFile(DEFAULT_CONFIG, initialWeights(DEFAULT_CONFIG, 1)));
  for (const version of [1, 2]) {
    mkdirSync(join(dir, `versions/${version}`), { recursive: true });
    const weights = writeSafetensors(initialWeights(DEFAULT_CONFIG, 10 + version));
    writeFileSync(
      join(dir, `versions/${version}/weights.safetensors`),
      version === 1 ? weights : weights.subarray(0, 5000),
    );
  }
});
afterAll(() => rmSync(dir, { recursive: true }));

describe('the onnx policy', () => {
  it('answers concurrent requests as it answers them one by one', async () => {
    const policy = await OnnxPolicy.open(join(dir, 'policy.onnx'), { maxBatch: 4 });
    const together = await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => policy.act(request(seed))));
    for (const [i, reply] of together.entries()) {
      const alone = await policy.act(request(i + 1));
      expect(alone.tokenIds).toEqual(reply.tokenIds);
      expect(alone.text).toBe(reply.text);
      expect(reply.logprobs.length).toBe(reply.tokenIds.length);
      expect(reply.entropies!.every((entropy) => entropy! >= 0)).toBe(true);
      expect(reply.modelVersion).toBe(0);
    }
    await policy.close();
    await expect(policy.act(request(1))).rejects.toThrow('closed');
  });

  it('loads a published version between batches, and each reply knows its own', async () => {
    const policy = await OnnxPolicy.open(join(dir, 'policy.onnx'));
    const first = policy.act(request(1));
    await new Promise(setImmediate);
    await policy.load(1, join(dir, 'versions/1'));
    expect(policy.version).toBe(1);
    expect([(await first).modelVersion, (await policy.act(request(1))).modelVersion]).toEqual([0, 1]);
    await policy.close();
  });

  it('keeps the version it has where the new one cannot be read', async () => {
    const policy = await OnnxPolicy.open(join(dir, 'policy.onnx'));
    const before = await policy.act(request(1));
    await expect(policy.load(2, join(dir, 'versions/2'))).rejects.toThrow('not a whole safetensors file');
    await expect(policy.load(3, join(dir, 'versions/3'))).rejects.toThrow('no such file');
    expect(policy.version).toBe(0);
    expect(await policy.act(request(1))).toEqual(before);
    await policy.close();
  });

  it('refuses a version with other bytes than its manifest says, and keeps the one that it has', async () => {
    const folder = join(dir, 'versions/4');
    const file = join(folder, 'weights.safetensors');
    const weights = writeSafetensors(initialWeights(DEFAULT_CONFIG, 4));
    const manifest = (bytes: number) =>
      JSON.stringify({ version: 4, files: { 'weights.safetensors': { bytes, sha256: sha256Of(weights) } } });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'manifest.json'), manifest(weights.length));
    const flipped = weights.slice();
    flipped[flipped.length - 1]! ^= 0x80;
    writeFileSync(file, flipped);
    const policy = await OnnxPolicy.open(join(dir, 'policy.onnx'));
    const before = await policy.act(request(1));
    await expect(policy.load(4, folder)).rejects.toMatchObject({
      message: 'the file is not as it was written: its sha256 differs from the manifest',
      where: file,
      hint: 'remove this version folder; the one before it is used then',
    });
    await expect(policy.load(4, folder)).rejects.toBeInstanceOf(DamagedFile);
    writeFileSync(file, weights.subarray(0, 5000));
    await expect(policy.load(4, folder)).rejects.toThrow(`the file has 5000 bytes instead of ${weights.length}`);
    writeFileSync(file, weights);
    writeFileSync(join(folder, 'manifest.json'), '{"version":4,"fil');
    await expect(policy.load(4, folder)).rejects.toThrow('it is no manifest');
    expect([policy.version, await policy.act(request(1))]).toEqual([0, before]);
    writeFileSync(join(folder, 'manifest.json'), manifest(weights.length));
    await policy.load(4, folder);
    expect(policy.version).toBe(4);
    await policy.close();
  });

  it('refuses the policy file of a published folder where its newest version came from another', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dart-begun-'));
    const file = join(folder, 'policy.onnx');
    const bytes = writePolicyFile(DEFAULT_CONFIG, initialWeights(DEFAULT_CONFIG, 1));
    mkdirSync(join(folder, 'versions/5'), { recursive: true });
    writeFileSync(join(folder, 'versions/5/state.json'), JSON.stringify({ base_sha256: sha256Of(bytes) }));
    writeFileSync(join(folder, 'latest.json'), '{"version":5,"path":"versions/5"}');
    writeFileSync(file, bytes);
    await (await OnnxPolicy.open(file)).close();
    for (const other of [bytes.subarray(0, 5000), writePolicyFile(DEFAULT_CONFIG, initialWeights(DEFAULT_CONFIG, 2))]) {
      writeFileSync(file, other);
      await expect(OnnxPolicy.open(file)).rejects.toMatchObject({
        message: expect.stringContaining('its sha256 is not that of the policy that the run began with'),
        where: file,
      });
    }
    rmSync(folder, { recursive: true });
  });

  it('opens a published folder at its latest version', async () => {
    writeFileSync(join(dir, 'latest.json'), '{"version":1,"path":"versions/1"}');
    const policy = await OnnxPolicy.open(dir);
    expect(policy.version).toBe(1);
    await policy.close();
    writeFileSync(join(dir, 'latest.json'), '{"version":"one"}');
    await expect(OnnxPolicy.open(dir)).rejects.toThrow('does not say which version');
  });

  it('drops those who no longer wait', async () => {
    const policy = await OnnxPolicy.open(join(dir, 'policy.onnx'));
    const gone = new AbortController();
    const replies = Promise.allSettled([policy.act(request(1, { signal: gone.signal })), policy.act(request(2))]);
    gone.abort(new Error('enough'));
    const [aborted, kept] = await replies;
    expect(aborted).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
    expect(kept?.status).toBe('fulfilled');
    await policy.close();
  });

  it('refuses a screen of another size before it joins a batch', async () => {
    const policy = await OnnxPolicy.open(join(dir, 'policy.onnx'));
    const wide: Frame = {
      width: 320,
      height: 240,
      rgb: () => new Uint8Array(320 * 240 * 3),
      png: () => new Uint8Array(),
    };
    const [odd, good] = await Promise.allSettled([policy.act(request(1, { frames: [wide] })), policy.act(request(2))]);
    expect(odd).toMatchObject({
      status: 'rejected',
      reason: { message: 'the screen has 320×240 pixels, and the policy reads 160×120' },
    });
    expect(good.status).toBe('fulfilled');
    await policy.close();
  });

  it('asks for a screenshot', async () => {
    const policy = await OnnxPolicy.open(join(dir, 'policy.onnx'));
    await expect(policy.act(someRequest())).rejects.toThrow('no screenshot');
    await policy.close();
  });
});
