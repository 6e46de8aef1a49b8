import { describe, expect, it } from 'vitest';
import { utilisation } from '../usage.ts';
import { simulate } from './simulation.ts';
import type { SimulationOptions } from './simulation_options.ts';
import { type SmallWorkload, smallWorkload } from './workload.testing.ts';

async function run(workload: SmallWorkload, options: Partial<SimulationOptions> = {}) {
  const small = smallWorkload(workload);
  const { desktops, workers } = small;
  const end = await simulate({
    ...{ workload: small, desktops: desktops.value, workers: workers.value, seed: 1 },
    ...{ mode: 'async', sync: 'one', seconds: 3300, ...options },
  });
  return { ...end, ...utilisation(end.usage) };
}

describe('simulate, against results by hand', () => {
  it('one desktop, one worker: a rollout takes 10 + 4·3 + 3·2 + 5 = 33 s, of which the worker works 12', async () => {
    const end = await run({}, { train: false });
    expect(end.usage).toMatchObject({ seconds: 3300, trajectories: 100, actions: 400 });
    expect(end.env_utilisation).toBeCloseTo(1, 10);
    expect(end.worker_utilisation).toBeCloseTo(12 / 33, 10);
    expect(end.actions_per_minute).toBeCloseTo((60 * 4) / 33, 10);
    expect(end.groups).toEqual({ finished: 50, learned: 0 });
  });

  it('a rollout that is cut short acts after its last reply too: 10 + 3·(3 + 2) + 5 = 30 s', async () => {
    const end = await run({ max_steps: 3 }, { train: false, seconds: 300 });
    expect(end.usage).toMatchObject({ trajectories: 10, actions: 30 });
    expect(end.worker_utilisation).toBeCloseTo(9 / 30, 10);
  });

  it('coupled: 33 s of rollouts, 57 of update and 10 of load make a third of the desktops and 12% of the worker', async () => {
    const end = await run({ desktops: 4 }, { mode: 'batch', sync: 'global', seconds: 1000 });
    expect(end.updates).toBe(10);
    expect(end.env_utilisation).toBeCloseTo(0.33, 10);
    expect(end.worker_utilisation).toBeCloseTo(0.12, 10);
    expect(end.actions_per_minute).toBeCloseTo(60 * 0.16, 10);
    expect(end.staleness.shares).toEqual([1]);
  });

  it('coupled with two desktops for four rollouts: two rounds, 66 s of 133', async () => {
    const end = await run({ desktops: 2 }, { mode: 'batch', sync: 'global', seconds: 1330 });
    expect(end.updates).toBe(10);
    expect(end.env_utilisation).toBeCloseTo(66 / 133, 10);
  });

  it('coupled, one worker after the other: each load takes its 10 s', async () => {
    const small = { desktops: 4, workers: 3 };
    const together = await run(small, { mode: 'batch', sync: 'global', seconds: 10_000, updates: 5 });
    expect(together.usage.seconds).toBeCloseTo(500, 9);
    const singly = await run(small, { mode: 'batch', sync: 'one', seconds: 10_000, updates: 5 });
    expect(singly.usage.seconds).toBeCloseTo(600, 9);
  });

  it('two requests at once each take twice as long where the slowdown says so', async () => {
    const end = await run(
      {
        desktops: 2,
        slowdown: [
          [1, 1],
          [2, 2],
        ],
      },
      { train: false, seconds: 45 },
    );
    // 10 + 4·6 + 3·2 + 5 = 45 s, the two in step.
    expect(end.usage.trajectories).toBe(2);
    expect(end.worker_utilisation).toBeCloseTo(24 / 45, 10);
  });

  it('asynchronous: nobody waits for the trainer, which learns from the newest groups, one version old', async () => {
    const end = await run({ desktops: 4, workers: 2, load: 0 }, { seconds: 33 * 40, plan: { window: 2 } });
    expect(end.env_utilisation).toBeCloseTo(1, 10);
    expect(end.groups.finished).toBe(80);
    // A round of two groups ends every 33 s; an update begins at 33 s and then every 57 s: 23 of them, 22 of which end.
    expect(end.updates).toBe(22);
    expect(end.groups.learned).toBe(46);
    // The first learns from rollouts of its own version. Each other one begins when its version is published, at most
    // 53 s after the first reply of the newest round: that was by the version before.
    expect(end.staleness.shares).toEqual([1 / 23, 22 / 23]);
  });

  it('while one of two workers changes version the other serves, and nothing is lost', async () => {
    const small = { desktops: 4, workers: 2, update: 5, load: 20 };
    const one = await run(small, { seconds: 3300 });
    const all = await run(small, { seconds: 3300, sync: 'global' });
    expect(one.usage.trajectories).toBe(400);
    expect(all.usage.trajectories).toBeLessThan(400);
    expect(one.updates).toBeGreaterThan(50);
  });

  it('is the same for the same seed and another for another', async () => {
    const spread: SmallWorkload = {
      ...{
        desktops: 7,
        workers: 2,
        slowdown: [
          [1, 1],
          [4, 1.5],
        ] as [number, number][],
      },
      steps: { shape: 'lognormal', median: 3, sigma: 0.8 },
      inference: { shape: 'lognormal', median: 3, sigma: 0.5 },
      reset: { shape: 'uniform', min: 5, max: 15 },
    };
    const first = await run(spread);
    expect(await run(spread)).toEqual(first);
    expect((await run(spread, { seed: 2 })).usage).not.toEqual(first.usage);
  });
});
