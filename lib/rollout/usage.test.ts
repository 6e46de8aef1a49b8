import { describe, expect, it } from 'vitest';
import { Usage, utilisation } from './usage.ts';

describe('Usage', () => {
  it('adds up what is held and what is used, between any two readings', () => {
    let now = 5000;
    const workers = [
      { id: 'w-0', state: 'serving' },
      { id: 'w-1', state: 'serving' },
    ];
    const usage = new Usage({ desktops: () => 4, workers: () => workers, clock: () => now });
    usage.desktop(1);
    usage.desktop(1);
    now += 10_000;
    // After 10 s the first worker gets a request; 5 s later it has come back, and one rollout is over.
    usage.worker(1, 'w-0');
    now += 5000;
    usage.worker(-1, 'w-0');
    usage.desktop(-1);
    usage.ended(6);
    const half = usage.read();
    expect(half).toEqual({
      ...{ seconds: 15, desktop_held_s: 60, desktop_busy_s: 30, worker_held_s: 30, worker_busy_s: 5 },
      ...{ trajectories: 1, actions: 6 },
    });
    expect(utilisation(half)).toEqual({
      env_utilisation: 0.5,
      worker_utilisation: 5 / 30,
      actions_per_minute: 24,
      trajectories_per_minute: 4,
    });
    now += 15_000;
    // In the second half one of four desktops was busy, and no worker. A worker that is out is not held any more.
    expect(utilisation(usage.read(), half)).toEqual({
      env_utilisation: 0.25,
      worker_utilisation: 0,
      actions_per_minute: 0,
      trajectories_per_minute: 0,
    });
    workers[1]!.state = 'out';
    const before = usage.read().worker_held_s;
    now += 1000;
    expect(usage.read().worker_held_s - before).toBe(1);
  });

  it('is 0 where nothing was held', () => {
    const usage = new Usage({ desktops: () => 0, workers: () => [], clock: () => 0 });
    expect(utilisation(usage.read()).env_utilisation).toBe(0);
  });
});
