import type { Distribution } from './distribution.ts';
import { parseWorkload, type Workload } from './workload.ts';

export interface SmallWorkload {
  desktops?: number;
  workers?: number;
  tasks?: number;
  rollouts?: number;
  batch_groups?: number;
  max_steps?: number;
  steps?: Distribution;
  reset?: number | Distribution;
  step?: number | Distribution;
  inference?: number | Distribution;
  evaluation?: number | Distribution;
  update?: number | Distribution;
  load?: number | Distribution;
  slowdown?: [number, number][];
}

/** A workload whose results can be worked out by hand: 10 s of reset, 4 steps of 2 s after 3 s each, 5 s of evaluation. */
export function smallWorkload(changes: SmallWorkload = {}): Workload {
  const source = 'assumed: for a test';
  const all = { desktops: 1, workers: 1, tasks: 3, rollouts: 2, batch_groups: 2, max_steps: 9, ...changes };
  const latencies = { reset: 10, step: 2, inference: 3, evaluation: 5, update: 57, load: 10, ...changes };
  const count = (value: number) => ({ value, source });
  const spread = (given: number | Distribution) => ({
    distribution: typeof given === 'number' ? { shape: 'constant', value: given } : given,
    source,
  });
  const value = {
    name: 'small',
    about: 'by hand',
    ...{ desktops: count(all.desktops), workers: count(all.workers), gpus_per_worker: count(1) },
    ...{ tasks: count(all.tasks), rollouts: count(all.rollouts), batch_groups: count(all.batch_groups) },
    ...{ max_steps: count(all.max_steps), steps: spread(changes.steps ?? 4) },
    latency: {
      ...{ reset: spread(latencies.reset), step: spread(latencies.step), inference: spread(latencies.inference) },
      ...{ evaluation: spread(latencies.evaluation), update: spread(latencies.update), load: spread(latencies.load) },
    },
    slowdown: { table: changes.slowdown ?? [[1, 1]], source },
  };
  return parseWorkload(value, 'test');
}
