import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trajectory } from '../store/trajectories.testing.ts';
import type { AnyRecord } from '../stream/records.ts';
import { Curator } from './curator.ts';
import { privateLedger } from './ledger.ts';
import { MemoryPool } from './memory-pool.ts';
import { presetOptions } from './options.ts';
import { Shelf } from './shelf.ts';
import { CurrentVersions } from './versions.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dart-shelf-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const sizeOf = (value: unknown) => JSON.stringify(value).length;

describe('Shelf', () => {
  it('puts the oldest away beyond its limit, and gives them back whole', async () => {
    const all = ['a', 'b', 'c'].map((id) => ({ trajectory: trajectory({ id }) }));
    const whole = all.map((held) => structuredClone(held.trajectory));
    const size = sizeOf(whole[0]);
    const shelf = new Shelf(2 * size, folder);
    for (const held of all) await shelf.hold(held);
    expect(all.map((held) => held.trajectory.steps.length)).toEqual([0, 2, 2]);
    expect(shelf.seen).toEqual({ peak: 2 * size, spilled: size });
    // The file has no name: whatever happens to the process, nothing stays.
    expect(readdirSync(folder)).toEqual([]);
    expect(await shelf.read(all[0]!)).toEqual(whole[0]);
    expect(all[0]!.trajectory.steps).toEqual([]);
    for (const held of all) await shelf.take(held);
    expect(all.map((held) => held.trajectory)).toEqual(whole);
    await shelf.close();
  });

  it('says which folder is full or missing', async () => {
    const shelf = new Shelf(0, join(folder, 'gone'));
    await expect(shelf.hold({ trajectory: trajectory({ id: 'a' }) })).rejects.toThrow('cannot write held trajectories');
  });
});

describe('a curator with many open groups', () => {
  const rounds = 50;
  const input = [0, 1].flatMap((index) =>
    Array.from({ length: rounds }, (_, i) =>
      trajectory({ id: `${i}.${index}`, group: `g${i}`, task: `os/${i % 5}`, index, reward: i % 3 === 0 ? 0 : index }),
    ),
  );

  async function run(limit: number) {
    const options = presetOptions('dart');
    const shelf = new Shelf(limit, folder);
    const curator = new Curator({
      options,
      pool: new MemoryPool(8, shelf),
      ledger: privateLedger,
      versions: new CurrentVersions(null),
      shelf,
    });
    const records: AnyRecord[] = [];
    for (const one of structuredClone(input)) {
      for await (const record of curator.take([one], 0)) records.push(record);
    }
    await shelf.close();
    return { records, shelf };
  }

  it('holds no more in memory than it may, and decides the same', async () => {
    const free = await run(Number.POSITIVE_INFINITY);
    expect(free.shelf.seen.peak).toBeGreaterThan((rounds - 1) * 1000);
    expect(free.shelf.seen.spilled).toBe(0);
    const bounded = await run(5000);
    expect(bounded.shelf.seen.peak).toBeLessThanOrEqual(5000);
    expect(bounded.shelf.seen.spilled).toBeGreaterThan(40_000);
    expect(bounded.records).toEqual(free.records);
    expect(free.records.filter((record) => record.event === 'success_injected').length).toBeGreaterThan(0);
  });
});
