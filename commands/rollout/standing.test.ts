import { describe, expect, it } from 'vitest';
import { noCounts } from '../../lib/environment/pool_counts.ts';
import type { SessionStatus } from '../../lib/rollout/status.ts';
import { Tally } from '../../lib/rollout/tally.ts';
import { RecentUsage, standing } from './standing.ts';

const START = { seconds: 0, desktop_held_s: 0, desktop_busy_s: 0, worker_held_s: 0, worker_busy_s: 0 };

function statusAt(seconds: number, parts: Partial<SessionStatus> = {}): SessionStatus {
  const tally = new Tally();
  const usage = { ...START, trajectories: 0, actions: 0, seconds };
  return {
    ...{ run_id: 'r', policy: 'p', version: 2, syncs: 0, tally, usage, desktops: [], running: 2 },
    ...{ desktopFailures: 0, desktopCounts: noCounts(), workers: [], waiting: 0, under_way: 0, ...parts },
  };
}

describe('standing', () => {
  it('says what is done, how fast and how well, and what is used', () => {
    const tally = new Tally();
    for (const reward of [1, 0]) tally.add({ outcome: reward ? 'success' : 'failure', reward, steps: [] });
    const used = { seconds: 30, desktop_held_s: 60, desktop_busy_s: 51, worker_held_s: 30, worker_busy_s: 14.1 };
    const status = statusAt(30, { tally, usage: { ...used, trajectories: 2, actions: 20 } });
    expect(standing(status, new RecentUsage(), 480)).toBe(
      '2 of 480 rollouts, 4.0/min, success 0.50 over the last 100, version 2, desktops 85%, workers 47% used',
    );
    expect(standing(status, new RecentUsage(), null)).toMatch(/^2 trajectories, 4\.0\/min/);
  });

  it('names what fails', () => {
    const tally = new Tally();
    tally.add({ outcome: 'env_error', reward: null, steps: [] });
    const worker = { held_s: 1, busy_s: 0, version: 0, inFlight: 0, foreign: 0 };
    const workers = [
      { id: 'a', state: 'out' as const, ...worker },
      { id: 'b', state: 'serving' as const, ...worker },
    ];
    expect(standing(statusAt(60, { tally, workers, desktopFailures: 3, waiting: 2 }), new RecentUsage(), null)).toMatch(
      /nothing scored, .* 1 in error, 3 desktop failures, 1 of 2 workers down, 2 requests waiting$/,
    );
  });

  it('tells how long the rest takes once it can', () => {
    const tally = new Tally();
    const left = () => / left$/.test(standing(statusAt(60, { tally }), new RecentUsage(), 10));
    for (let i = 0; i < 4; i++) tally.add({ outcome: 'success', reward: 1, steps: [] });
    expect(left()).toBe(false);
    tally.add({ outcome: 'success', reward: 1, steps: [] });
    expect(left()).toBe(true);
    for (let i = 0; i < 5; i++) tally.add({ outcome: 'success', reward: 1, steps: [] });
    expect(left()).toBe(false);
  });

  it('takes rates over about the last minute', () => {
    const recent = new RecentUsage();
    const usageAt = (seconds: number, trajectories: number) => ({ ...START, seconds, trajectories, actions: 0 });
    expect(recent.rates(usageAt(30, 60)).trajectories_per_minute).toBe(120);
    expect(recent.rates(usageAt(60, 60)).trajectories_per_minute).toBe(0);
    expect(recent.rates(usageAt(90, 70)).trajectories_per_minute).toBe(10);
    // The reading at 30 s is too old by now: 25 since the one at 60 s.
    expect(recent.rates(usageAt(120, 85)).trajectories_per_minute).toBe(25);
  });
});
