import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { OnnxPolicy } from '../policy/onnx.ts';
import { openPolicies } from './policies.ts';

const BASE = join(import.meta.dirname, '../../fixtures/policies/base.onnx');

describe('openPolicies', () => {
  it('opens no more workers once it is told to stop, and closes those that it has', async () => {
    const stop = new AbortController();
    const close = vi.spyOn(OnnxPolicy.prototype, 'close');
    const open = vi.spyOn(OnnxPolicy, 'open').mockImplementation(async (path, options) => {
      open.mockRestore();
      const policy = await OnnxPolicy.open(path, options);
      stop.abort(new Error('stopped by SIGTERM'));
      return policy;
    });
    await expect(openPolicies(`onnx:${BASE}`, 1024, 1, { signal: stop.signal })).rejects.toThrow('stopped by SIGTERM');
    expect(close).toHaveBeenCalledTimes(1);
    close.mockRestore();
  });
});
