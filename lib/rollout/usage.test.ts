import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Usage, utilisation } from './usage.ts';
import { shareUsed } from './utilisation.ts';

describe('Usage', () => {
  it('adds up what is held and what is used, between any two readings', () => {
    let now = 5000;
    const workers = [
      { id: 'w-0', state: 'serving' },
      { id: 'w-1', state: 'serving' },
    ];
    const usage = new Usage({ desktops: () => 4, workers: () => workers, clock: () => now });
    usage.desktop(1, 'd-0');
    usage.desktop(1, 'd-1');
    now += 10_000;
    // After 10 s the first worker gets a request; 5 s later it has come back, and one rollout is over.
    usage.worker(1, 'w-0');
    now += 5000;
    usage.worker(-1, 'w-0');
    usage.desktop(-1, 'd-0');
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

  it('does not hold a worker that went down, and does not use it either', () => {
    let now = 0;
    const workers = [
      { id: 'w-0', state: 'serving' },
      { id: 'w-1', state: 'serving' },
    ];
    const usage = new Usage({ desktops: () => 0, workers: () => workers, clock: () => now });
    usage.worker(1, 'w-0');
    usage.worker(1, 'w-1');
    now += 10_000;
    workers[1]!.state = 'out';
    usage.workersChanged();
    const down = usage.read();
    // Its request waits for its time limit all the same.
    now += 90_000;
    usage.worker(-1, 'w-1');
    expect(usage.parts().workers).toEqual([
      { id: 'w-0', held_s: 100, busy_s: 100 },
      { id: 'w-1', held_s: 10, busy_s: 10 },
    ]);
    expect(utilisation(usage.read(), down).worker_utilisation).toBe(1);
    workers[1]!.state = 'serving';
    usage.workersChanged();
    now += 10_000;
    expect(usage.parts().workers[1]).toEqual({ id: 'w-1', held_s: 20, busy_s: 10 });
  });

  it('has parts of at most 1, and a total that is their mean by held seconds, whatever happens', () => {
    const event = fc.record({
      kind: fc.constantFrom('begins', 'ends', 'asked', 'answered', 'down', 'back', 'gone', 'look'),
      which: fc.integer({ min: 0, max: 3 }),
      ms: fc.integer({ min: 0, max: 5000 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let now = 0;
        const workers = [0, 1, 2, 3].map((index) => ({ id: `w-${index}`, state: 'serving' }));
        let ids = ['d-0', 'd-1', 'd-2', 'd-3'];
        const usage = new Usage({
          ...{ desktops: () => ids.length, desktopIds: () => ids, workers: () => workers, clock: () => now },
        });
        const happens: Record<string, (which: number) => void> = {
          begins: (which) => usage.desktop(1, `d-${which}`),
          ends: (which) => usage.desktop(-1, `d-${which}`),
          asked: (which) => workers[which]!.state === 'serving' && usage.worker(1, `w-${which}`),
          answered: (which) => usage.worker(-1, `w-${which}`),
          down: (which) => {
            workers[which]!.state = 'out';
            usage.workersChanged();
          },
          back: (which) => {
            workers[which]!.state = 'serving';
            usage.workersChanged();
          },
          gone: (which) => {
            ids = ids.filter((id) => id !== `d-${which}`);
          },
          look: () => usage.read(),
        };
        let before = { reading: usage.read(), parts: usage.parts() };
        for (const { kind, which, ms } of events) {
          now += ms;
          happens[kind]!(which);
          const after = { reading: usage.read(), parts: usage.parts() };
          for (const [kindOf, held, busy] of [
            ['desktops', 'desktop_held_s', 'desktop_busy_s'],
            ['workers', 'worker_held_s', 'worker_busy_s'],
          ] as const) {
            const parts = after.parts[kindOf].map((part) => {
              const old = before.parts[kindOf].find(({ id }) => id === part.id);
              return { share: shareUsed(part, old), held: part.held_s - (old?.held_s ?? 0) };
            });
            for (const { share } of parts) expect((share ?? 0) <= 1 + 1e-9 && (share ?? 0) >= 0).toBe(true);
            const used = parts.reduce((sum, part) => sum + (part.share ?? 0) * part.held, 0);
            expect(after.reading[busy] - before.reading[busy]).toBeCloseTo(used, 6);
            const heldByParts = parts.reduce((sum, part) => sum + part.held, 0);
            expect(after.reading[held] - before.reading[held]).toBeCloseTo(heldByParts, 6);
          }
          before = after;
        }
      }),
    );
  });

  it('is 0 where nothing was held', () => {
    const usage = new Usage({ desktops: () => 0, workers: () => [], clock: () => 0 });
    expect(utilisation(usage.read()).env_utilisation).toBe(0);
  });
});
