import { describe, expect, it } from 'vitest';
import { batchSeconds, middleRate, pointOf, simulatedPoint } from './figure.ts';
import { arpoWorkload, PAPER } from './workload.ts';

describe('the figures', () => {
  it('are a mean of batches, and the rate of the middle half', () => {
    // Two batches of two: 0 to 3 s and 3 to 7 s.
    const spans = [
      { began: 0, ended: 2000 },
      { began: 0, ended: 3000 },
      { began: 3000, ended: 6000 },
      { began: 3000, ended: 7000 },
    ];
    expect(batchSeconds(spans, 2)).toBe(3.5);
    // Ends 2, 3, 6, 7 s: from the second to the fourth two rollouts in 4 s.
    expect(middleRate(spans)).toBe(0.5);
    expect(pointOf(16, 180, 2)).toEqual({ desktops: 16, batch: 180, epoch: 11_520, decoupledEpoch: 512 });
  });
});

describe('the workload', () => {
  it('has the paper’s ends: 3 minutes and over 6 hours with 8 desktops, 19 minutes and 1.2 hours with 256', async () => {
    const [few, many] = [await simulatedPoint(8), await simulatedPoint(256)];
    expect(Math.abs(few.batch / 60 - PAPER[8]!.batchMinutes)).toBeLessThan(0.2);
    expect(few.epoch / 3600).toBeGreaterThan(PAPER[8]!.epochHours);
    expect(Math.abs(many.batch / 60 - PAPER[256]!.batchMinutes)).toBeLessThan(0.5);
    expect(Math.abs(many.epoch / 3600 - PAPER[256]!.epochHours)).toBeLessThan(0.1);
  });

  it('has as many rollouts a batch as desktops', () => {
    expect([8, 64].map((desktops) => arpoWorkload(desktops).batch_groups.value)).toEqual([1, 8]);
  });
});
