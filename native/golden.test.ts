import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../lib/stream/shared.testing.ts';
import { goldenCases } from './golden/cases.ts';
import { compareArray, compareRows } from './golden/compare.ts';
import { deviceStatus } from './index.ts';

const folder = shared === null ? null : join(shared, 'golden');
const cases = folder && existsSync(folder) ? goldenCases(folder) : [];

describe.skipIf(cases.length === 0)('golden numbers', () => {
  const devices = deviceStatus().device === 'cuda' ? (['cpu', 'cuda'] as const) : (['cpu'] as const);
  for (const device of devices) {
    it.each(cases)(`${device}: $file: $name`, ({ run }) => {
      for (const [output, { share }] of Object.entries(run(device))) expect(share, output).toBeLessThanOrEqual(1);
    });
  }
});

describe('comparison', () => {
  it('counts a difference in tolerances, scaled by the greatest expected number', () => {
    expect(compareArray([10.5, 1], [10, 1], 0.1).share).toBeCloseTo(0.5, 12);
    expect(compareArray([0.2], [0], 0.1).share).toBeCloseTo(2, 12);
    expect(compareArray([Number.NaN, 5], [1, null], 0.1).share).toBe(Infinity);
    expect(compareArray([1], [1, 2], 0.1).share).toBe(Infinity);
    expect(compareArray([-Infinity], ['-inf'], 0.1).share).toBe(0);
  });

  it('wants masked rows to be exactly 0', () => {
    expect(compareRows([0, 0], [0, 0], [1, 0], 0.1).share).toBe(0);
    expect(compareRows([0, 1e-30], [0, 0], [1, 0], 0.1).share).toBeGreaterThan(1);
    expect(compareRows([0, 1e-30], [0, 0], [1, 1], 0.1).share).toBeLessThan(1);
  });
});
