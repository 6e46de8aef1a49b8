import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStore, type Store } from '../lib/store/index.ts';
import { STORES } from '../lib/store/stores.testing.ts';
import { Random } from '../lib/stream/random.ts';
import type { Trajectory } from '../lib/stream/records.ts';
import { compilePrograms, type Programs, producerArgs } from './programs.testing.ts';

const KILLS = 20;
/** How long the rest of the pipe may take after the last kill. */
const SETTLE_MS = 180_000;

let programs: Programs;
let folder = '';
beforeAll(async () => {
  programs = await compilePrograms();
  folder = mkdtempSync(join(tmpdir(), 'dart-crash-'));
});
afterAll(async () => {
  await Promise.all(roles.map((role) => role.ended('SIGKILL')));
  programs?.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Everything that was started, also by a test that failed. */
const roles: Role[] = [];

/** One place of the pipe: a process that is started again whenever it is killed. */
class Role {
  child: ChildProcess;
  /** Whether the process of now has printed something. */
  heard = false;
  readonly #args: readonly string[];
  readonly #take: (line: string) => void;
  readonly errors: string;

  /** @param take gets each whole line of its stdout: what a process was writing when it died is nobody's. */
  constructor(name: string, args: readonly string[], take: (line: string) => void) {
    this.#args = args;
    this.#take = take;
    this.errors = join(folder, `${name}.err`);
    this.child = this.#start();
    roles.push(this);
  }

  /** Nobody ends by itself. */
  check(): void {
    const { exitCode } = this.child;
    if (exitCode !== null) throw new Error(`exit ${exitCode}: ${readFileSync(this.errors, 'utf8').slice(-2000)}`);
  }

  async killed(): Promise<void> {
    const over = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await over;
    this.child = this.#start();
  }

  async ended(signal: NodeJS.Signals): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const over = once(this.child, 'exit');
      this.child.kill(signal);
      await over;
    }
    return this.child.exitCode;
  }

  #start(): ChildProcess {
    const errors = openSync(this.errors, 'a');
    const child = spawn('node', this.#args, { stdio: ['ignore', 'pipe', errors], cwd: folder });
    closeSync(errors);
    let rest = '';
    this.heard = false;
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (child === this.child) this.heard = true;
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#take(line);
    });
    return child;
  }
}

/** Four producers, two curators that read what all of them print, a trainer that reads what both curators print. */
function startPipe(url: string, name: string) {
  const [trajectories, samples] = ['trajectories', 'samples'].map((kind) => join(folder, `${name}.${kind}.ndjson`));
  for (const file of [trajectories!, samples!]) writeFileSync(file, '');
  const reported: Trajectory[] = [];
  const fromProducer = (line: string) => {
    const record = JSON.parse(line) as Trajectory;
    if (record.type !== 'trajectory') return;
    reported.push(record);
    appendFileSync(trajectories!, `${line}\n`);
  };
  const fromCurator = (line: string) => {
    if (line.startsWith('{"type":"sample"')) appendFileSync(samples!, `${line}\n`);
  };
  const producers = [1, 2, 3, 4].map((i) => {
    const more = ['--env', 'embedded:2,latency=40,reset=100', '--window', '1', '--grace', '1'];
    return new Role(
      `${name}.rollout${i}`,
      [programs.path('rollout'), ...producerArgs(url, folder, more)],
      fromProducer,
    );
  });
  // Every group counts: the trainer only makes version numbers, by which all soon would be stale.
  const rules = ['--no-pool', '--keep-constant', '--max-staleness', '999'];
  const curate = [programs.path('curate'), trajectories!, '--follow', '--store', url, ...rules, '--quiet'];
  const curators = [1, 2].map((i) => new Role(`${name}.curate${i}`, curate, fromCurator));
  const trainer = new Role(`${name}.learner`, [programs.path('learner'), url, samples!], () => {});
  return { pipe: [...producers, ...curators, trainer], producers, reported };
}

/** Waits until something holds, for as long as the test may take. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) {
    for (const role of roles) role.check();
    await sleep(20);
  }
}

/** Waits until nothing that was stored waits for a decision, and nothing decided waits to be learned from. */
async function settled(store: Store): Promise<void> {
  for (const end = performance.now() + SETTLE_MS; ; await sleep(200)) {
    const open = await store.openTrajectories('run');
    const ready = (await store.groupCounts('run')).find((row) => row.state === 'ready');
    if (open.length === 0 && ready === undefined) return;
    if (performance.now() > end) throw new Error(`${open.length} trajectories open, ready: ${ready?.groups ?? 0}`);
  }
}

describe.each(STORES)('a pipe on $name whose processes are killed at random moments', (stores) => {
  beforeAll(() => stores.start());
  afterAll(() => stores.stop());

  it('loses no trajectory, doubles none, decides every group and learns from none twice', async () => {
    const url = stores.absent();
    const random = new Random(`crash/${stores.name}`);
    const { pipe, producers, reported } = startPipe(url, stores.name);
    const victims = Array.from({ length: Math.ceil(KILLS / pipe.length) }, () => random.shuffle([...pipe])).flat();
    for (const victim of victims.slice(0, KILLS)) {
      // On a slow machine nobody would get anywhere between two kills.
      const before = reported.length;
      await until(() => reported.length > before);
      await sleep(random.next() * 800);
      await victim.killed();
    }
    // Enough to look at, and nobody is told to stop before it can hear that.
    await until(() => reported.length > 60 && producers.every((producer) => producer.heard));
    for (const producer of producers) expect(await producer.ended('SIGTERM')).toBe(143);
    const store = await openStore(url);
    await settled(store);
    for (const role of pipe) await role.ended('SIGKILL');
    roles.length = 0;
    await checkNothingLost(store, reported);
    await checkLearnedOnce(store);
    await store.close();
  }, 600_000);
});

async function checkNothingLost(store: Store, reported: readonly Trajectory[]): Promise<void> {
  const rows = await store.db
    .selectFrom('rollout')
    .select(['trajectory_id', 'group_id', 'rollout_index', 'steps'])
    .execute();
  const ids = new Set(rows.map((row) => row.trajectory_id));
  expect(reported.length).toBeGreaterThan(30);
  expect(reported.filter((one) => !ids.has(one.trajectory_id))).toEqual([]);
  const members = new Set(rows.map((row) => `${row.group_id} ${row.rollout_index}`));
  expect([ids.size, members.size]).toEqual([rows.length, rows.length]);
  const [steps] = await store.db
    .selectFrom('rollout_step')
    .select((eb) => eb.fn.countAll().as('count'))
    .execute();
  expect(Number(steps!.count)).toBe(rows.reduce((sum, row) => sum + row.steps, 0));
  for (const one of reported.slice(-20)) expect((await store.trajectory(one.trajectory_id))?.steps).toEqual(one.steps);
}

async function checkLearnedOnce(store: Store): Promise<void> {
  const versions = await store.db.selectFrom('model_version').select(['version', 'metrics_json']).execute();
  const learned = versions.flatMap((row) => (JSON.parse(row.metrics_json!) as { learned: string[] }).learned);
  expect(learned.length).toBeGreaterThan(10);
  expect(new Set(learned).size).toBe(learned.length);
  const groups = await store.db.selectFrom('training_group').selectAll().execute();
  const acknowledged = groups.filter((group) => group.state === 'acknowledged');
  expect(acknowledged.map((group) => group.group_id).sort()).toEqual([...learned].sort());
  expect(acknowledged.every((group) => versions.some((row) => row.version === group.learned_version))).toBe(true);
  // What is planned still has no rollout; all others were decided.
  const rollouts = await store.db.selectFrom('rollout').select('group_id').distinct().execute();
  const planned = new Set(groups.filter((group) => group.state === 'planned').map((group) => group.group_id));
  expect(rollouts.filter((row) => planned.has(row.group_id))).toEqual([]);
}
