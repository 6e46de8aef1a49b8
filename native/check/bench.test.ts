import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { metricSchema } from '../../lib/stream/records.ts';
import { orSkip } from '../../lib/stream/shared.testing.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** bench-kernels at tiny sizes; what comes out as numbers is not looked at. */
function bench(python: string) {
  const { status, stdout, stderr } = spawnSync(
    'sh',
    [join(import.meta.dirname, 'bench-kernels.sh'), folder, '--quick'],
    {
      encoding: 'utf8',
      env: { ...process.env, DART_PYTHON: python },
    },
  );
  return {
    status,
    stderr,
    metrics: stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  };
}

const withTorch = process.env.DART_PYTHON || 'python3';
const found = spawnSync(withTorch, ['-c', 'import torch'], { stdio: 'ignore' }).status === 0;
const torch = orSkip('torch', found || null, `${withTorch} has no torch`);

describe('bench-kernels', () => {
  it('leaves ratios to PyTorch out where Python has none, and says so', { timeout: 120_000 }, () => {
    const bare = join(folder, 'python-without-packages');
    writeFileSync(bare, '#!/bin/sh\nexec python3 -S "$@"\n', { mode: 0o755 });
    const { status, stderr, metrics } = bench(bare);
    expect(stderr).toMatch(/^bench-kernels: .*no PyTorch in this Python: ratios to it are left out/);
    expect(status).toBe(0);
    for (const metric of metrics) expect(metricSchema.parse(metric)).toEqual(metric);
    expect(new Set(metrics.map(({ against }) => against))).toEqual(new Set([undefined, 'read and write in place']));
    const names = metrics.map(({ name }) => name);
    for (const shape of ['f32 8x1000', 'bf16 8x1000', 'f32 4x2062', 'bf16 4x2062']) {
      expect(names).toContain(`policy_loss/${shape}/1 thread`);
      expect(names).toContain(`policy_loss/${shape}/2 threads, bandwidth`);
      expect(names).toContain(`policy_loss/${shape}/extra memory`);
    }
    expect(names).toContain('policy_loss/f32 8x1000/1 thread, entropy bonus');
    expect(names).toContain('adamw with clipping/10000 f32/2 threads');
  });

  it.skipIf(!torch)('gives each time a ratio to eager PyTorch', { timeout: 240_000 }, () => {
    const { status, stderr, metrics } = bench(withTorch);
    expect(stderr).toContain('; PyTorch ');
    expect(status).toBe(0);
    const times = metrics.filter(({ unit }) => unit === 'ms');
    expect(times.length).toBeGreaterThan(15);
    for (const { against, ratio } of times) {
      expect(against).toMatch(/^eager PyTorch|^torch\.optim\.AdamW/);
      expect(ratio).toBeGreaterThan(0);
    }
  });

  it('says which program is missing', () => {
    expect(bench(join(folder, 'no-such-python'))).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^bench-kernels: there is no .*no-such-python/),
    });
  });
});
