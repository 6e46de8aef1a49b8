import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../../lib/cli/paths.ts';
import { readWorkload } from '../../../lib/rollout/simulate/workload.ts';
import type { UsageReading } from '../../../lib/rollout/usage.ts';
import { desktopsOf } from './cluster.ts';
import { figuresOf, measuredOf, simulated, tableOf } from './figures.ts';
import { timeline } from './timeline.ts';
import { cycleEnds, until } from './window.ts';

/** Readings of two desktops and a worker, one a second: `busy` desktops in each of them. */
function readings(busy: number[], trajectories: number[]): UsageReading[] {
  let sum = 0;
  return busy.map((desktops, second) => {
    sum += desktops;
    return {
      ...{ seconds: second + 1, desktop_held_s: 2 * (second + 1), desktop_busy_s: sum },
      ...{ worker_held_s: second + 1, worker_busy_s: sum / 2, trajectories: trajectories[second]!, actions: 4 * sum },
    };
  });
}

describe('the measured stretch', () => {
  const run = readings([2, 1, 0, 0, 2, 2, 0, 0, 1], [0, 2, 2, 2, 2, 4, 4, 4, 4]);

  it('ends before the batch after the last one that counts begins', () => {
    expect(cycleEnds(run, 2)?.seconds).toBe(4);
    expect(cycleEnds(run, 4)?.seconds).toBe(8);
    expect(cycleEnds(run.slice(0, 8), 4)).toBeNull();
    expect(cycleEnds(run.slice(0, 2), 2)).toBeNull();
    expect(until(run, 4.5)?.seconds).toBe(5);
    expect(until(run, 10)).toBeNull();
  });

  it('gives shares, and rates in the time of the workload', () => {
    const updates = [
      { version: 1, staleness: [0, 0] },
      { version: 2, staleness: [1, 2] },
    ];
    expect(measuredOf({ readings: run, updates }, run[3]!, 60)).toEqual({
      // 3 of 8 desktop-seconds; 12 actions in 4 s, which are 4 minutes; 2 updates in these.
      ...{ env_utilisation: 3 / 8, worker_utilisation: 1.5 / 4, actions_per_minute: 3, updates_per_hour: 30 },
      staleness: 0.75,
    });
  });

  it('is drawn as bars: full, half, and nothing', () => {
    const [desktops] = timeline(readings([2, 1, 0], [0, 0, 0]));
    expect(desktops).toMatch(/^desktops {2}\|█+▄+ +\|$/);
    expect(desktops!.match(/█/g)!.length).toBe(24);
  });
});

describe('the papers’ workload', async () => {
  const workload = await readWorkload(join(packageRoot(), 'fixtures/workloads/dart.json'));

  it('is what the embedded desktops are made as slow as', () => {
    expect(desktopsOf(workload, 60)).toBe('embedded:64,latency=41.667,reset=1000,evaluate=366.667,jitter=0.5');
  });

  it('shows the coupled figures of the papers when it runs coupled', async () => {
    const coupled = await simulated(workload, { mode: 'batch', sync: 'global', seconds: 5 * 86_400 });
    expect(Math.abs(coupled.env_utilisation - 0.122)).toBeLessThan(0.005);
    expect(Math.abs(coupled.worker_utilisation - 0.296)).toBeLessThan(0.008);
    expect(Math.abs(coupled.actions_per_minute - 22.6)).toBeLessThan(1);
    expect(coupled.staleness).toBe(0);
  });

  it('names the gains, against those of the papers', () => {
    const coupled = {
      ...{ env_utilisation: 0.12, worker_utilisation: 0.3, actions_per_minute: 20, updates_per_hour: 2, staleness: 0 },
    };
    const decoupled = {
      ...{ env_utilisation: 0.96, worker_utilisation: 0.6, actions_per_minute: 100, updates_per_hour: 4, staleness: 2 },
    };
    const real = { coupled, decoupled };
    const figures = new Map(figuresOf(real, real).map((metric) => [metric.name, metric]));
    expect(figures.get('env_utilisation')).toMatchObject({ value: 0.96, against: 'coupled', ratio: 8 });
    const gains = ['env_utilisation_gain', 'worker_utilisation_gain', 'throughput_gain', 'updates_gain'];
    expect(gains.map((name) => figures.get(name)!.value)).toEqual([8, 2, 5, 2]);
    expect(figures.get('simulator/env_utilisation/coupled')!.ratio).toBe(1);
    expect(tableOf(real, real).rows[0]).toEqual([
      ...['environment utilisation', '12.2%', '67.7%', '5.5×', '12.0%', '96.0%', '8.0×', '12.0%', '96.0%'],
    ]);
  });
});
