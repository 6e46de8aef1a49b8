import { expect, it } from 'vitest';
import { Measured } from './measured.ts';
import { smallWorkload } from './workload.testing.ts';

it('takes steps, latencies and what is left for reset and evaluation from trajectories', () => {
  const measured = new Measured();
  const step = (env_ms: number, policy_ms: number) => ({ env_ms, policy_ms }) as never;
  measured.add({
    steps: [step(200, 1000), step(400, 1400)],
    started_at: '2026-01-01T00:00:00.000Z',
    finished_at: '2026-01-01T00:00:10.000Z',
  });
  measured.add({ steps: [], started_at: '', finished_at: '' });
  const { steps, max_steps, latency, slowdown } = measured.applied(smallWorkload(), 'f');
  expect([steps.distribution, max_steps.value]).toEqual([{ shape: 'empirical', values: [2] }, 2]);
  expect(latency.step.distribution).toEqual({ shape: 'empirical', values: [0.2, 0.4] });
  expect(latency.inference.distribution).toEqual({ shape: 'empirical', values: [1, 1.4] });
  // 10 s less the 3 s of the steps.
  expect(latency.reset.distribution).toEqual({ shape: 'empirical', values: [7] });
  expect(latency.evaluation.distribution).toEqual({ shape: 'constant', value: 0 });
  expect(latency.update).toEqual(smallWorkload().latency.update);
  expect(slowdown.table).toEqual([[1, 1]]);
  expect(() => new Measured().applied(smallWorkload(), 'f')).toThrow('no trajectory with steps');
});
