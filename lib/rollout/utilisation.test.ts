import { describe, expect, it } from 'vitest';
import { PartTimes, shareUsed } from './utilisation.ts';

describe('PartTimes', () => {
  it('adds up for each part how long it was held and used', () => {
    let now = 1000;
    const times = new PartTimes(() => now);
    times.hold(['a', 'b']);
    times.use('a', true);
    now += 3000;
    times.use('a', false);
    times.use('a', false);
    now += 1000;
    times.use('b', true);
    times.use('b', true);
    now += 500;
    expect(times.read()).toEqual([
      { id: 'a', held_s: 4.5, busy_s: 3 },
      { id: 'b', held_s: 4.5, busy_s: 0.5 },
    ]);
  });

  it('holds what is used, and keeps what one had that is held no longer', () => {
    let now = 0;
    const times = new PartTimes(() => now);
    times.use('a', true);
    now += 2000;
    times.hold(['a-next']);
    now += 5000;
    expect(times.read()).toEqual([
      { id: 'a', held_s: 2, busy_s: 2 },
      { id: 'a-next', held_s: 5, busy_s: 0 },
    ]);
    times.hold(['a', 'a-next']);
    now += 1000;
    expect(times.read()[0]).toEqual({ id: 'a', held_s: 3, busy_s: 2 });
  });

  it('gives shares between any two readings', () => {
    const [from, to] = [
      { id: 'a', held_s: 10, busy_s: 4 },
      { id: 'a', held_s: 20, busy_s: 5 },
    ];
    expect(shareUsed(to)).toBe(0.25);
    expect(shareUsed(to, from)).toBe(0.1);
    expect(shareUsed(from, from)).toBe(null);
  });
});
