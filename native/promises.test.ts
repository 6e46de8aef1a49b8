import { mkdtempSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  type AdamwInput,
  adamw,
  adamwAsync,
  deviceStatus,
  logpEntropy,
  logpEntropyAsync,
  type PolicyLossInput,
  policyLoss,
  policyLossAsync,
} from './index.ts';

/** Numbers that look random: -4 to 4. */
const noise = (length: number, seed = 1) =>
  Float32Array.from({ length }, (_, i) => 4 * Math.sin((i + 1) * 12.9898 * seed));

function policyInput(rows: number, vocabulary: number): PolicyLossInput {
  return {
    logits: noise(rows * vocabulary),
    vocabulary,
    target: Int32Array.from({ length: rows }, (_, i) => (i * 7) % vocabulary),
    scale: new Float32Array(rows).fill(1 / rows),
    advantage: noise(rows, 2),
    rolloutLogp: new Float32Array(rows).fill(-3),
    tis: { cap: 1 },
  };
}

function adamwInput(size: number): AdamwInput {
  const moments = { firstMoment: new Float32Array(size), secondMoment: new Float32Array(size) };
  return { tensors: [{ parameter: noise(size), gradient: noise(size, 3), ...moments }], step: 1, learningRate: 0.1 };
}

describe('the promise forms', () => {
  it('give what the plain forms give', async () => {
    const input = policyInput(7, 33);
    expect(await policyLossAsync(input)).toEqual(policyLoss(input));
    const { logits, vocabulary, target } = input;
    expect(await logpEntropyAsync({ logits, vocabulary, target })).toEqual(logpEntropy({ logits, vocabulary, target }));
    const [plain, promised] = [adamwInput(1000), adamwInput(1000)];
    expect(await adamwAsync({ ...promised, maxGradNorm: 1 })).toEqual(adamw({ ...plain, maxGradNorm: 1 }));
    expect(promised.tensors).toEqual(plain.tensors);
  });

  it('let timers and files go on meanwhile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dart-promises-'));
    const input = policyInput(256, 16_000);
    let open = 64; /* together far longer than a file's answer takes, on any machine */
    const calls = Array.from({ length: open }, () =>
      policyLossAsync({ ...input, dlogits: null }).finally(() => {
        open -= 1;
      }),
    );
    const seen = { ticks: 0, files: 0 };
    while (open > 0) {
      await setImmediate();
      if (open > 0) seen.ticks += 1;
      await stat(folder);
      if (open > 0) seen.files += 1;
    }
    expect(seen.ticks).toBeGreaterThan(0);
    expect(seen.files).toBeGreaterThan(0);
    expect((await calls[0])!.statistics.tokens).toBe(256);
    rmSync(folder, { recursive: true });
  });

  it('run in the order of their making', async () => {
    const [plain, promised] = [adamwInput(50_000), adamwInput(50_000)];
    for (const step of [1, 2, 3]) adamw({ ...plain, step });
    await Promise.all([1, 2, 3].map((step) => adamwAsync({ ...promised, step })));
    expect(promised.tensors).toEqual(plain.tensors);
  });

  it('work on per-token arrays as they were at the call', async () => {
    const input = policyInput(200, 500);
    const expected = policyLoss(input);
    const promise = policyLossAsync(input);
    input.target.fill(2 ** 30);
    input.scale.fill(Number.NaN);
    expect(await promise).toEqual(expected);
  });

  it('are rejected where the plain form throws', async () => {
    const input = policyInput(2, 3);
    await expect(policyLossAsync({ ...input, scale: new Float32Array(1) })).rejects.toThrow(
      new TypeError('Expected Float32Array of length 2 for scale but received Float32Array of length 1'),
    );
    const logits = Float32Array.of(0, 0, 0, 0, Number.NaN, 0);
    await expect(policyLossAsync({ ...input, logits })).rejects.toThrow(
      new TypeError('Expected finite logits (or -Infinity) but received NaN in row 1, column 1'),
    );
    const { vocabulary, target } = input;
    await expect(logpEntropyAsync({ logits, vocabulary, target })).rejects.toThrow('NaN in row 1, column 1');
    await expect(adamwAsync({ ...adamwInput(1), step: 0 })).rejects.toThrow('an integer of at least 1 for step');
  });

  it.skipIf(deviceStatus().device === 'cuda')('say why there is no GPU', async () => {
    await expect(policyLossAsync({ ...policyInput(1, 2), device: 'cuda:0' })).rejects.toThrow(/^No CUDA device: \S/);
  });

  it('refuse a buffer that can be resized, and tell of one that was transferred away', async () => {
    const input = policyInput(2, 3);
    const buffer = new (ArrayBuffer as unknown as new (size: number, options: object) => ArrayBuffer)(24, {
      maxByteLength: 48,
    });
    await expect(policyLossAsync({ ...input, logits: new Float32Array(buffer) })).rejects.toThrow(
      'Expected an array whose buffer cannot be resized for logits',
    );
    const dlogits = new Float32Array(6);
    const promise = policyLossAsync({ ...input, dlogits });
    const kept = structuredClone(dlogits.buffer, { transfer: [dlogits.buffer] });
    await expect(promise).rejects.toThrow('Expected an array that stays until the call is done for dlogits');
    expect(kept.byteLength).toBe(24);
  });
});
