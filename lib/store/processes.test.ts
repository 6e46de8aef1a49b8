import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from './compiled.testing.ts';
import { openStore } from './open.ts';
import { STORES } from './stores.testing.ts';

interface Report {
  inserted: number;
  work: string[];
  pooled: number;
  decided: string[];
  leased: string[];
  published: boolean;
  acknowledged: number;
}

const PROCESSES = 8;
const GROUPS = 40;
let folder: string;

beforeAll(async () => {
  folder = await compile('lib/store/child.testing.ts');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a process that works on the store and holds on to its leases until `end` is called. */
function start(url: string) {
  const child = execa('node', [join(folder, 'lib/store/child.testing.js'), url, String(GROUPS)], {
    buffer: { stdout: false },
  });
  const report = new Promise<Report>((done, fail) => {
    child.stdout.once('data', (text: Buffer) => done(JSON.parse(text.toString()) as Report));
    child.catch(fail);
  });
  return { report, end: () => child.stdin.end(), child };
}

describe.each(STORES)('eight processes at one store on $name that is not there yet', (stores) => {
  beforeAll(() => stores.start());
  afterAll(() => stores.stop());

  it('store each trajectory once, decide each group once and lease each rollout and group to one of them', async () => {
    const url = stores.absent();
    const children = Array.from({ length: PROCESSES }, () => start(url));
    const reports = await Promise.all(children.map((child) => child.report));
    const names = Array.from({ length: GROUPS }, (_, g) => `g${g}`).sort();
    expect(reports.reduce((sum, report) => sum + report.inserted, 0)).toBe(2 * GROUPS);
    const work = reports.flatMap((report) => report.work);
    // What is finished is not leased any more: no rollout twice, though not each one.
    expect(new Set(work).size).toBe(work.length);
    expect(reports.reduce((sum, report) => sum + report.pooled, 0)).toBe(GROUPS);
    expect(reports.flatMap((report) => report.decided).sort()).toEqual(names);
    expect(reports.flatMap((report) => report.leased).sort()).toEqual(names);

    expect(reports.filter((report) => report.published)).toHaveLength(1);
    expect(reports.reduce((sum, report) => sum + report.acknowledged, 0)).toBe(2);

    for (const child of children) child.end();
    await Promise.all(children.map(({ child }) => child));
    const store = await openStore(url);
    // All of them are gone: what nobody acknowledged comes again.
    const again = await store.leaseGroups({ owner: 'me', ttlMs: 1000 });
    const open = names.filter((name) => !['g0', 'g1', 'g2', 'g3'].includes(name));
    expect(again.map((group) => group.group_id).sort()).toEqual(open);
    expect(again.every((group) => group.members.length === 2)).toBe(true);
    await store.close();
  });
});
