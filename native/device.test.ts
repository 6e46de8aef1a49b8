import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isRequired } from '../lib/stream/shared.testing.ts';
import { native } from './addon.ts';
import { deviceStatus, policyLoss } from './index.ts';

const coin = { logits: new Float32Array(2), vocabulary: 2, target: Int32Array.of(0), scale: Float32Array.of(1) };

describe('deviceStatus', () => {
  it('says in one line what the kernels run on', () => {
    const { device, text } = deviceStatus();
    expect(text).toMatch(device === 'cuda' ? /^kernels on .*compute/ : /^kernels on the CPU.*; no GPU: \S/);
    expect(text).not.toContain('\n');
  });

  it('a library that is not there is a reason, not an error', () => {
    const { addon, cudaLibrary } = native();
    const absent = addon.cudaStatus({ cudaLibrary: `${cudaLibrary}.absent`, deviceIndex: 0 });
    expect(absent.text.length).toBeGreaterThan(5);
  });

  it('asking for a GPU where there is none says why', () => {
    if (deviceStatus().device === 'cuda') {
      expect(policyLoss({ ...coin, device: 'cuda' }).logp[0]).toBeCloseTo(-Math.log(2), 6);
      return;
    }
    expect(() => policyLoss({ ...coin, device: 'cuda' })).toThrow(/^No CUDA device: \S/);
  });

  it('the CUDA kernels, where nvcc built them, open on a machine without a GPU', () => {
    const { addon, cudaLibrary } = native();
    const { available, text } = addon.cudaStatus({ cudaLibrary, deviceIndex: 0 });
    // Where nvcc must be found, a library that it could not compile is a failure.
    if (isRequired('nvcc')) expect(existsSync(cudaLibrary)).toBe(true);
    const expected = existsSync(cudaLibrary) ? /compute \d|driver|no CUDA device/ : /not built/;
    expect(text).toMatch(expected);
    expect(available).toBe(/compute \d/.test(text));
  });
});
