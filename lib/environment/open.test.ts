import { describe, expect, it } from 'vitest';
import { openEnvironments } from './open.ts';

describe('openEnvironments', () => {
  it('waits before an evaluation as long as the latency model says, each time anew, and not at all without', async () => {
    const waits = async (spec: string) => {
      const pool = await openEnvironments(spec);
      const env = await pool.lease();
      const drawn = [env.waits.beforeEvaluateMs, env.waits.beforeEvaluateMs];
      await pool.close();
      return drawn;
    };
    expect(await waits('embedded:1')).toEqual([0, 0]);
    const [one, two] = (await waits('embedded:1,evaluate=1000,jitter=0.5')) as [number, number];
    for (const wait of [one, two]) expect(Math.abs(wait - 1000)).toBeLessThanOrEqual(500);
    expect(one).not.toBe(two);
  });

  it('starts embedded desktops; the same seed shows the same screen on each', async () => {
    const pool = await openEnvironments('embedded:2');
    const [one, two] = [await pool.lease(), await pool.lease()];
    const look = async (env: typeof one, seed: number) => {
      await env.reset(seed);
      return Buffer.from((await env.guest.screenshot()).rgb()).toString('base64');
    };
    const first = await look(one, 5);
    expect(await look(two, 5)).toBe(first);
    expect(await look(two, 6)).not.toBe(first);
    await pool.close();
  });
});
