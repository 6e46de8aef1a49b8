import { expect, it } from 'vitest';
import { sweepDesktops } from './sweep.ts';
import { smallWorkload } from './workload.testing.ts';

it('finds with how many desktops a worker is full: one request at a time, 3 s each of a rollout of 33 s with 4', async () => {
  // With as many in flight, each takes as many times longer: the worker does one request in 3 s, however many ask.
  const workload = smallWorkload({
    ...{ tasks: 50, rollouts: 8, reset: { shape: 'uniform', min: 5, max: 15 } },
    slowdown: [
      [1, 1],
      [100, 100],
    ],
  });
  const { points, best } = await sweepDesktops(workload, { seed: 1, seconds: 7200 });
  const one = points[0]!;
  // Alone: 4 actions in 33 s.
  expect(one.actions_per_minute_per_worker).toBeCloseTo(240 / 33, 0);
  expect(one.seconds_per_action).toBeCloseTo(33 / 4, 0);
  // Full: 20 a minute, for which 33/12 = 2.75 desktops would do if they never came at the same time.
  const most = Math.max(...points.map((point) => point.actions_per_minute_per_worker));
  expect(most).toBeGreaterThan(19.5);
  expect(most).toBeLessThan(20.1);
  expect(best).toBeGreaterThanOrEqual(4);
  expect(best).toBeLessThanOrEqual(8);
});

it('does not give the end of its search as the best: a worker that nothing slows down is never full', async () => {
  const workload = smallWorkload({ tasks: 50, rollouts: 8, slowdown: [[1, 1]] });
  const { points, best, atLeast } = await sweepDesktops(workload, { seed: 1, seconds: 1200 });
  expect([points.at(-1)!.desktops_per_worker, best]).toEqual([256, null]);
  expect(atLeast).toBeGreaterThanOrEqual(192);
});
