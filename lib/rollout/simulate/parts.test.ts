import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Agenda } from './agenda.ts';
import { meanOf, normalQuantile, quantileOf } from './distribution.ts';
import { RolloutPlans } from './plan.ts';
import { BatchServer, slowdownOf } from './server.ts';
import { Staleness } from './staleness.ts';
import { smallWorkload } from './workload.testing.ts';
import { parseWorkload } from './workload.ts';

describe('distributions', () => {
  it.each([
    [0.5, 0],
    [0.975, 1.959963985],
    [0.025, -1.959963985],
    [0.8413447460685429, 1],
    [0.001, -3.090232306],
    [0.999, 3.090232306],
  ])('normal quantile of %d is %d', (u, z) => expect(normalQuantile(u)).toBeCloseTo(z, 7));

  it('has the median, the bounds and the mean of its shape', () => {
    expect(quantileOf({ shape: 'constant', value: 7 })(0.1)).toBe(7);
    expect(quantileOf({ shape: 'uniform', min: 2, max: 6 })(0.25)).toBe(3);
    const lognormal = { shape: 'lognormal', median: 4, sigma: 0.5, min: 2, max: 8 } as const;
    expect([0.5, 0.0001, 0.9999].map(quantileOf(lognormal))).toEqual([4, 2, 8]);
    const measured = { shape: 'empirical', values: [3, 1, 2] } as const;
    expect([0, 0.25, 0.5, 1].map(quantileOf({ ...measured, values: [...measured.values] }))).toEqual([1, 1.5, 2, 3]);
    // exp(σ²/2)
    expect(meanOf({ shape: 'lognormal', median: 1, sigma: 0.5 })).toBeCloseTo(Math.exp(0.125), 3);
  });
});

describe('BatchServer', () => {
  const slowdown = slowdownOf([
    [1, 1],
    [3, 2],
  ]);

  it('interpolates the slowdown, and goes on along its last line', () => {
    expect([1, 2, 3, 5].map(slowdown)).toEqual([1, 1.5, 2, 3]);
    expect([1, 9].map(slowdownOf([[4, 1.25]]))).toEqual([1.25, 1.25]);
  });

  it('shares its speed among what is in flight at each moment', () => {
    const server = new BatchServer(slowdown);
    server.admit(0, 10, 1);
    expect(server.nextAt).toBe(10);
    // At 4 s six seconds of work are left; together with another each goes 1.5 times slower: 3 s of work until 8.5 s.
    server.admit(4, 3, 2);
    expect(server.nextAt).toBe(8.5);
    expect(server.finish(8.5)).toBe(2);
    expect(server.nextAt).toBe(11.5);
    server.admit(9.5, 100, 3);
    server.abandon(9.5, 3);
    expect(server.nextAt).toBe(11.5);
    expect(server.finish(11.5)).toBe(1);
    expect([server.inFlight, server.nextAt]).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  it('finishes requests in the order of their work when they come together', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 }), (works) => {
        const server = new BatchServer(slowdown);
        works.forEach((work, id) => void server.admit(0, work, id));
        const order = works.map(() => works[server.finish(server.nextAt)]!);
        expect(order).toEqual([...works].sort((a, b) => a - b));
      }),
    );
  });
});

describe('Agenda', () => {
  it('gives actors by their moments, however often these are set, moved and dropped', () => {
    const change = fc.record({ actor: fc.nat(19), at: fc.oneof(fc.nat(100), fc.constant(Number.POSITIVE_INFINITY)) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const agenda = new Agenda(20);
        const model = new Map<number, number>();
        for (const { actor, at } of changes) {
          agenda.set(actor, at);
          if (Number.isFinite(at)) model.set(actor, at);
          else model.delete(actor);
          expect(agenda.next).toBe(Math.min(...model.values()));
        }
        while (model.size > 0) {
          const next = agenda.next;
          expect(next).toBe(Math.min(...model.values()));
          const actor = agenda.take();
          expect(model.get(actor)).toBe(next);
          model.delete(actor);
        }
        expect(agenda.first).toBe(-1);
      }),
    );
  });
});

describe('RolloutPlans', () => {
  it('depends on task, group and index, not on the run; every second rollout succeeds', () => {
    const plans = new RolloutPlans(smallWorkload({ steps: { shape: 'lognormal', median: 7, sigma: 0.9, max: 50 } }));
    const steps = (run: string) => Array.from({ length: 400 }, (_, i) => plans.of(`${run}/w/7/${i >> 3}`, i % 8).steps);
    expect(steps('a')).toEqual(steps('b'));
    expect(Math.max(...steps('a'))).toBeLessThanOrEqual(50);
    expect(Math.min(...steps('a'))).toBeGreaterThanOrEqual(1);
    const sorted = steps('a').sort((x, y) => x - y);
    // The median of 400 draws: 7 · exp(± 0.06 · 0.9) or so, rounded.
    expect(sorted[200]).toBeGreaterThanOrEqual(6);
    expect(sorted[200]).toBeLessThanOrEqual(8);
    expect([0, 1, 2, 3].map((index) => plans.of('a/w/7/0', index).success)).toEqual([true, false, true, false]);
  });
});

describe('Staleness', () => {
  it('is a histogram with a mean', () => {
    const staleness = new Staleness();
    expect([staleness.mean, staleness.max, staleness.shares]).toEqual([null, null, []]);
    for (const versions of [0, 0, 3, 1]) staleness.add(versions);
    expect([staleness.mean, staleness.max, staleness.shares]).toEqual([1, 3, [0.5, 0.25, 0, 0.25]]);
  });
});

describe('parseWorkload', () => {
  it.each([
    [{ shape: 'uniform', min: 90, max: 30 }, 'latency.reset.distribution: min is above max'],
    [{ shape: 'uniform', min: -1, max: 30 }, 'latency.reset.distribution.min: '],
    [{ shape: 'lognormal', median: 5, sigma: 1, min: 9, max: 3 }, 'latency.reset.distribution: min is above max'],
    [{ shape: 'lognormal', median: 5, sigma: 200 }, 'latency.reset.distribution: sigma is so large'],
    [{ shape: 'lognormal', median: 0, sigma: 1 }, 'latency.reset.distribution.median: '],
    [{ shape: 'lognormal', median: 1, sigma: -1 }, 'latency.reset.distribution.sigma: '],
    [{ shape: 'constant', value: Number.POSITIVE_INFINITY }, 'latency.reset.distribution.value: '],
    [{ shape: 'empirical', values: [] }, 'latency.reset.distribution.values: '],
    [{ shape: 'empirical', values: [1, -1] }, 'latency.reset.distribution.values.1: '],
    [{ shape: 'normal', mean: 1 }, 'latency.reset.distribution'],
  ])('refuses %j', (distribution, message) => {
    const { latency, ...rest } = smallWorkload();
    const reset = { distribution, source: 'a test' };
    expect(() => parseWorkload({ ...rest, latency: { ...latency, reset } }, 'w.json')).toThrow(message);
  });

  it('refuses a worker that is faster the more it has to do', () => {
    const table = [
      [1, 2],
      [4, 1],
    ];
    const workload = { ...smallWorkload(), slowdown: { table, source: 'a test' } };
    expect(() => parseWorkload(workload, 'w.json')).toThrow('slowdown.table: a request is faster among more of them');
  });

  it('names the field at fault, and wants a source for each figure', () => {
    const workload = smallWorkload();
    expect(() => parseWorkload({ ...workload, desktops: { value: 4 } }, 'f')).toThrow(/desktops\.source/);
    const falling = {
      ...workload.slowdown,
      table: [
        [2, 1],
        [1, 1],
      ],
    };
    expect(() => parseWorkload({ ...workload, slowdown: falling }, 'f')).toThrow(/do not rise/);
  });
});
