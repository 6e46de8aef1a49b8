import { expect, it } from 'vitest';
import { EmbeddedDriver } from '../../environment/embedded.ts';
import { FakeGuest } from '../../environment/fake.testing.ts';
import { EnvironmentPool } from '../../environment/pool.ts';
import type { PolicyRequest } from '../../policy/policy.ts';
import { unscoredReply } from '../../policy/unscored.ts';
import { episodeOptions } from '../episode.testing.ts';
import { runRollouts } from '../rollouts.ts';
import type { WorkItem } from '../scheduler.ts';
import { TaskProgress } from '../task_progress.ts';
import { schedulerOf } from '../work_plan.ts';
import { WorkerPool } from '../worker_pool.ts';
import { simulate } from './simulation.ts';
import { type SimulationOptions, workPlanOf } from './simulation_options.ts';
import { smallWorkload } from './workload.testing.ts';

const DESKTOPS = 3;
const name = (group: string, index: number | string, cap: number) => `${group}/${index} of ${cap} steps`;
const nameOf = ({ group, rolloutIndex }: WorkItem) => name(group.group_id, rolloutIndex, group.maxSteps);

/** What happens in a simulation with uneven latencies: which rollouts begin and end, in order. */
async function simulated(options: SimulationOptions): Promise<['begins' | 'ends', string][]> {
  const events: ['begins' | 'ends', string][] = [];
  await simulate({ ...options, onItem: (change, item) => void events.push([change, nameOf(item)]) });
  return events;
}

/** Real rollouts of the same plan on real desktops, each of which ends when it is told to. */
function real(options: SimulationOptions) {
  const begun: string[] = [];
  const finish = new Map<string, () => void>();
  const act = async ({ episode, maxSteps }: PolicyRequest) => {
    const [, group, index] = /^(.*)\/(\d+)\/[^/]*$/.exec(episode!)!;
    const own = name(group!, index!, maxSteps);
    begun.push(own);
    await new Promise<void>((resolve) => finish.set(own, resolve));
    return unscoredReply({ type: Number(index) % 2 === 0 ? 'fail' : 'finished' });
  };
  const policy = { name: 'told', coordinates: 'absolute' as const, version: 0, act, close: async () => {} };
  const environments = new EnvironmentPool([new EmbeddedDriver(DESKTOPS, (id) => new FakeGuest(id))]);
  const progress = new TaskProgress(16);
  const stop = new AbortController();
  const running = runRollouts({
    runId: 'simulated',
    scheduler: schedulerOf(workPlanOf(options), { progress, desktops: DESKTOPS, between: async () => {} }),
    environments,
    workers: new WorkerPool([policy]),
    episode: { ...episodeOptions(), evaluate: undefined },
    emit: async (trajectory) => progress.observe(trajectory),
    stop: stop.signal,
    abort: stop.signal,
  });
  const until = async (what: () => boolean) => {
    for (let turn = 0; !what() && turn < 2000; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    begun,
    end: async (own: string) => {
      await until(() => finish.has(own));
      finish.get(own)?.();
    },
    until,
    close: async () => {
      stop.abort();
      for (const done of finish.values()) done();
      await running.catch(() => {});
      await environments.close();
    },
  };
}

it.each(['async', 'batch'] as const)(
  'a real run with the same order of events makes the decisions of the simulation, mode %s',
  async (mode) => {
    const options: SimulationOptions = {
      workload: smallWorkload({
        ...{ tasks: 4, rollouts: 4, batch_groups: 2, max_steps: 8, steps: { shape: 'constant', value: 1 } },
        inference: { shape: 'lognormal', median: 5, sigma: 1 },
      }),
      ...{ desktops: DESKTOPS, workers: 1, mode, sync: 'one', seconds: 600, seed: 3, train: false },
      plan: { dynamicRollouts: true, dynamicLength: true, limits: { minSteps: 2, maxSteps: 8, slack: 2 } },
    };
    const events = await simulated(options);
    const run = real(options);
    let begins = 0;
    for (const [change, own] of events) {
      if (change === 'ends') await run.end(own);
      else begins += 1;
      await run.until(() => run.begun.length >= begins);
    }
    const expected = events.filter(([change]) => change === 'begins').map(([, own]) => own);
    expect(expected.length).toBeGreaterThan(30);
    // Later groups are capped at the longest success and two more.
    expect(expected.some((own) => own.endsWith('of 3 steps'))).toBe(true);
    expect(run.begun.slice(0, expected.length)).toEqual(expected);
    await run.close();
  },
);
