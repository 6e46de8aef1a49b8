import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { someRequest } from '../../policy/request.testing.ts';
import { openPolicies } from '../policies.ts';
import { RolloutPlans } from './plan.ts';
import { openWorkloadPolicies, WorkloadPolicy } from './policy.ts';
import { RealTimeServer } from './real_time.ts';
import { smallWorkload } from './workload.testing.ts';

it('ends an episode as the plan of its rollout says, whichever worker it asks', async () => {
  const workload = smallWorkload({ steps: { shape: 'uniform', min: 1, max: 6 } });
  const plans = new RolloutPlans(workload);
  const workers = [0, 1].map((worker) => new WorkloadPolicy(workload, 10_000, worker));
  for (const index of [0, 1, 2, 3]) {
    const { steps, success } = plans.of('run/w/1/0', index);
    const texts: string[] = [];
    for (let stepIndex = 0; stepIndex < steps; stepIndex++) {
      const request = someRequest({ episode: `run/w/1/0/${index}/embedded-${stepIndex}`, stepIndex, seed: stepIndex });
      texts.push((await workers[stepIndex % 2]!.act(request)).text);
    }
    expect(texts.slice(0, -1)).toEqual(Array(steps - 1).fill('Action: wait()'));
    expect(texts.at(-1)).toMatch(success ? /fail|call_user/ : /finished/);
  }
});

it('answers with the version that it loaded', async () => {
  const policy = new WorkloadPolicy(smallWorkload(), 10_000);
  expect((await policy.act(someRequest())).modelVersion).toBe(0);
  await policy.load(3);
  expect((await policy.act(someRequest())).modelVersion).toBe(3);
});

it('is opened as so many workers, faster by its scale', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dart-workload-'));
  const file = join(folder, 'w,1.json');
  writeFileSync(file, JSON.stringify(smallWorkload()));
  expect(await openWorkloadPolicies(`${file},scale=60`, 3)).toHaveLength(3);
  const { policies, versions } = await openPolicies(`workload:${file}`, 2);
  expect([policies.length, policies[0]!.name, versions]).toEqual([2, 'workload', null]);
  for (const bad of ['', `${file},scale=0`, `${file},scale=x`])
    await expect(openWorkloadPolicies(bad, 1)).rejects.toThrow('cannot read the policy');
  await rm(folder, { recursive: true });
});

it('finishes requests in the order of their work, and lets go of one that is abandoned', async () => {
  const server = new RealTimeServer((requests) => requests);
  const order: string[] = [];
  const stop = new AbortController();
  const note = (name: string) => () => void order.push(name);
  const all = [
    server.work(9).then(note('long')),
    server.work(3).then(note('short')),
    server.work(1e9, stop.signal).catch(note('abandoned')),
  ];
  stop.abort();
  await Promise.all(all);
  expect(order).toEqual(['abandoned', 'short', 'long']);
});
