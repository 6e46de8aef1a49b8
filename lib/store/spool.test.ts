import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Trajectory } from '../stream/records.ts';
import { openStore } from './open.ts';
import { trajectory } from './trajectories.testing.ts';

let folder: string;
let url: string;
let said: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dart-spool-'));
  url = `sqlite:${join(folder, 'dart.db')}`;
  said = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (where = url) =>
  openStore(where, { env: { XDG_STATE_HOME: folder }, notify: (message) => said.push(message) });
const spooled = () => readdirSync(join(folder, 'dart', 'spool')).map((name) => join(folder, 'dart', 'spool', name));

/** A store on a disk that has just become full. */
async function openFull() {
  const store = await open();
  await sql`pragma max_page_count = 1`.execute(store.db);
  return store;
}

const many = Array.from({ length: 120 }, (_, i) => trajectory({ id: `t${i}`, steps: 8, reward: 1 }));

describe('what the store cannot take', () => {
  it('is kept in a file, whole, and the error says in which', async () => {
    const store = await openFull();
    const error = await store.insertTrajectories(many).catch((reason: unknown) => reason);
    await store.close();
    const [path] = spooled();
    expect(error).toMatchObject({
      message: `no space left for the store (SQLITE_FULL); 120 trajectories kept in ${path}`,
      hint: expect.stringContaining('the next command with this store takes the file up'),
      exitCode: 2,
    });
    const [head, ...lines] = readFileSync(path!, 'utf8').trimEnd().split('\n');
    expect(JSON.parse(head!)).toMatchObject({ type: 'event', event: 'spool', store: join(folder, 'dart.db') });
    expect(lines.map((line) => JSON.parse(line))).toEqual(many);
  });

  it('is taken up by the next who opens this store, once, and by nobody else', async () => {
    const full = await openFull();
    await expect(full.insertTrajectories(many)).rejects.toThrow('kept in');
    await full.close();
    const [path] = spooled();
    const copy = readFileSync(path!);

    await (await open(`sqlite:${join(folder, 'other.db')}`)).close();
    expect(said).toEqual([]);

    const store = await open();
    expect(said).toEqual([`took up ${path}: 120 trajectories, 120 of them new to the store`]);
    expect(await store.countRollouts('run1')).toBe(120);
    expect(await store.trajectory('t7')).toEqual(many[7]);
    expect(spooled()).toEqual([]);
    await store.close();

    // As if the process had died after storing them and before the file was removed.
    writeFileSync(path!, copy);
    const again = await open();
    expect(said.at(-1)).toBe(`took up ${path}: 120 trajectories, 0 of them new to the store`);
    expect(await again.countRollouts('run1')).toBe(120);
    await again.close();
  });

  it('is handed on once it is stored, where it was made to be, by who takes it up first', async () => {
    const full = await openFull();
    await expect(full.insertTrajectories(many, { doneBy: 'owner' })).rejects.toThrow('kept in');
    await full.close();
    const [path] = spooled();
    const copy = readFileSync(path!);
    const handed: string[] = [];
    const take = async (trajectories: readonly Trajectory[]) => {
      const ours = trajectories.slice(1);
      for (const { trajectory_id } of ours) handed.push(trajectory_id);
      return ours.length;
    };
    const places = { env: { XDG_STATE_HOME: folder }, notify: (message: string) => said.push(message) };
    await (await openStore(url, { ...places, handOn: take })).close();
    expect(handed).toEqual(many.slice(1).map(({ trajectory_id }) => trajectory_id));
    const words = `took up ${path}: 120 trajectories, 120 of them new to the store`;
    const reads = 'of these: dart-curate --from-store reads them';
    expect(said).toEqual([`${words}; no output of dart-rollout has 1 trajectory ${reads}`]);

    writeFileSync(path!, copy);
    await (await openStore(url, { ...places, handOn: take })).close();
    expect(handed).toHaveLength(119);

    // By a command that prints no rollouts.
    writeFileSync(path!, copy.toString().replaceAll('"trajectory_id":"t', '"trajectory_id":"u'));
    await (await open()).close();
    expect(said.at(-1)).toBe(`${words}; no output of dart-rollout has 120 trajectories ${reads}`);
  });

  it('goes into the pool where it was meant to', async () => {
    const full = await openFull();
    await expect(full.addExperience(many, { capacity: 3, experience: true })).rejects.toThrow('kept in');
    await full.close();
    const store = await open();
    expect(await store.experienceIds('chrome/t1')).toEqual(['t119', 't118', 't117']);
    expect(await store.countRollouts('run1')).toBe(0);
    await store.close();
  });

  it('is left where it is, with a word, when somebody has changed it', async () => {
    const full = await openFull();
    await expect(full.insertTrajectories(many)).rejects.toThrow('kept in');
    await full.close();
    const [path] = spooled();
    writeFileSync(path!, `${readFileSync(path!, 'utf8')}{"type":"trajectory"}\n`);
    await (await open()).close();
    expect(said[0]).toContain(`left ${path} as it is: ${path}:122: `);
    expect(spooled()).toEqual([path]);
  });
});
