import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../lib/store/index.ts';
import { MariaDb, mariadb } from '../lib/store/mariadb.testing.ts';
import type { AnyRecord, Trajectory } from '../lib/stream/records.ts';
import { compilePrograms, type Programs, producerArgs } from './programs.testing.ts';

const OUTAGE_MS = 10_000;
/** Between two looks at what has come. */
const LOOK_MS = 50;

let programs: Programs;
let server: MariaDb;
let folder = '';
beforeAll(async () => {
  if (!mariadb) return;
  programs = await compilePrograms();
  server = await MariaDb.start();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dart-outage-'));
  return () => rmSync(folder, { recursive: true, force: true });
});
afterAll(async () => {
  await server?.remove();
  programs?.remove();
});

const desktops = ['--env', 'embedded:2,latency=30', '--window', '1', '--grace', '1'];

/** A pipe that can be shut: what comes meanwhile is kept and comes through when it opens. */
function gate(): { stream: Transform; shut: () => void; open: () => void; held: () => string } {
  let waiting: (() => void)[] | null = null;
  let held = '';
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!waiting) return done(null, chunk);
      held += chunk.toString('latin1');
      const through = () => stream.push(chunk);
      waiting.push(through);
      done();
    },
  });
  const open = () => {
    for (const through of waiting ?? []) through();
    waiting = null;
  };
  return { stream, shut: () => (waiting = []), open, held: () => held };
}

/** Starts a command, collects what it prints. */
function start(name: 'rollout' | 'curate', args: readonly string[], input?: NodeJS.ReadableStream) {
  const env = { XDG_STATE_HOME: folder };
  const child = execa('node', [programs.path(name), ...args], { cwd: folder, env, reject: false, stdin: 'pipe' });
  if (input) input.pipe(child.stdin);
  else child.stdin.end();
  const records: AnyRecord[] = [];
  let rest = '';
  const said = { text: '' };
  child.stderr.on('data', (chunk: Buffer) => {
    said.text += chunk.toString();
  });
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop()!;
    records.push(...lines.map((line) => JSON.parse(line) as AnyRecord));
  });
  return { child, records, said };
}

async function until(condition: () => boolean): Promise<void> {
  for (const end = performance.now() + 120_000; !condition(); await sleep(LOOK_MS)) {
    if (performance.now() > end) throw new Error('it did not come to that');
  }
}

const of = (type: string, records: readonly AnyRecord[]) => records.filter((record) => record.type === type);

describe.skipIf(!mariadb)('a run whose MariaDB is away', { timeout: 600_000 }, () => {
  it('goes on when it is back after ten seconds', async () => {
    const url = `${server.url()}?patience=600`;
    const rollout = start('rollout', producerArgs(url, folder, desktops));
    const rules = ['--no-pool', '--keep-constant', '--quiet'];
    const between = gate();
    rollout.child.stdout.pipe(between.stream);
    const curate = start('curate', ['--follow', '--store', url, ...rules], between.stream);
    await until(() => of('sample', curate.records).length > 0);
    // So that both have something for the store while it is away: the curator gets trajectories only then, nine of
    // three tasks, so that at least one group of three is whole.
    between.shut();
    await until(() => between.held().split('"type":"trajectory"').length > 9);
    await server.down();
    between.open();
    const lost = /lost the store 127\.0\.0\.1:\d+\/dart\d+ \(.*\); trying again for 600 s/;
    await until(() => [rollout, curate].every(({ said }) => lost.test(said.text)));
    await sleep(OUTAGE_MS);
    const before = [of('trajectory', rollout.records).length, of('sample', curate.records).length];
    await server.up();
    await until(() => of('trajectory', rollout.records).length > before[0]! + 6);
    await until(() => of('sample', curate.records).length > before[1]!);
    rollout.child.kill('SIGTERM');
    const [made, curated] = await Promise.all([rollout.child, curate.child]);
    expect([made.exitCode, curated.exitCode]).toEqual([143, 0]);

    const store = await openStore(url);
    const trajectories = of('trajectory', rollout.records) as unknown as Trajectory[];
    expect(await store.countRollouts('run')).toBe(trajectories.length);
    for (const { trajectory_id, steps } of trajectories) {
      expect((await store.trajectory(trajectory_id))?.steps).toEqual(steps);
    }
    expect(await store.openTrajectories('run')).toEqual([]);
    await store.close();
  });

  it('ends when it stays away; the next run stores what was kept, once', async () => {
    const url = server.url();
    const args = producerArgs(`${url}?patience=3`, folder, ['--env', 'embedded:6,latency=30', ...desktops.slice(2)]);
    const first = start('rollout', args);
    await until(() => of('trajectory', first.records).length > 3);
    await server.down('SIGKILL');
    const { exitCode, stderr } = await first.child;
    expect(exitCode).toBe(2);
    const path = /the store stayed away for \d+(\.\d)? s: .*; \d+ trajector(?:y|ies) kept in (\S+\.ndjson)\. Try: /;
    expect(stderr).toMatch(path);
    // Once, however many rollouts and desktops wanted something of it, and last.
    const lines = stderr.trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('stayed away'))).toEqual([lines.at(-1)]);
    const spool = join(folder, 'dart', 'spool');
    const files = readdirSync(spool).map((name) => join(spool, name));
    expect(files).toContain(path.exec(stderr)![2]);
    const kept = files.flatMap((file) => readFileSync(file, 'utf8').trimEnd().split('\n').slice(1));

    await server.up();
    const second = start('rollout', args);
    await until(() => of('trajectory', second.records).length > 3);
    second.child.kill('SIGTERM');
    const again = await second.child;
    expect(again.stderr).not.toContain('lost the store');
    expect(readdirSync(spool)).toEqual([]);

    const store = await openStore(url);
    for (const line of kept) {
      const trajectory = JSON.parse(line) as Trajectory;
      expect(await store.trajectory(trajectory.trajectory_id)).toEqual(trajectory);
    }
    // And, being stored, printed: by the run that took them up.
    const printed = [...of('trajectory', first.records), ...of('trajectory', second.records)];
    const ids = printed.map((record) => record.trajectory_id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const line of kept) expect(ids).toContain((JSON.parse(line) as Trajectory).trajectory_id);
    // What was kept was not done again.
    expect(await store.countRollouts('run')).toBe(ids.length);
    await store.close();
  });
});
