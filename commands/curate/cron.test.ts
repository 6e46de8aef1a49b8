import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { openStore } from '../../lib/store/index.ts';
import { takeLock } from '../../lib/store/lock.ts';
import { type Sketch, trajectory } from '../../lib/store/trajectories.testing.ts';
import type { AnyRecord, Trajectory } from '../../lib/stream/records.ts';
import { spec } from './spec.ts';

/** Repeated runs: cursors, locks, and files that others write to and rotate. */
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-cron-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const lines = (records: readonly AnyRecord[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const at = (name: string) => join(cwd, name);
const cursorFile = () => at('.local/state/dart/cursors/c.ndjson');

/** A member of a group of two: index 1 succeeds. */
function member(group: string, index: number, changes: Partial<Sketch> = {}): Trajectory {
  return trajectory({ id: `${group}.${index}`, group, index, reward: index, steps: 1, ...changes });
}
const pair = (group: string, changes: Partial<Sketch> = {}) => [0, 1].map((index) => member(group, index, changes));

async function curate(...args: string[]) {
  const io = testIo({ cwd, env: { HOME: cwd } });
  const code = await runCommand(spec, args, io);
  return { code, out: io.out(), err: io.err(), shown: io.records().map(show), summary: io.records().at(-1)! };
}
const next = (...args: string[]) => curate('in.ndjson', '--cursor', 'c', ...args);

function show(record: AnyRecord): string {
  if (record.type === 'sample') return String(record.trajectory_id);
  return String(record.reason ?? record.event ?? record.type);
}

describe('--cursor over files', () => {
  it('goes on where the last run ended, and completes groups that were half there', async () => {
    const [a, b] = pair('g1');
    const broken = member('g2', 0, { reward: null });
    writeFileSync(at('in.ndjson'), lines([a!, ...pair('g0'), broken]));
    const first = await next();
    expect(first.shown).toEqual(['g0.0', 'g0.1', 'env_error', 'summary']);
    expect(first.summary).toMatchObject({ trajectories: 4, groups_from_last_run: 0, groups_for_next_run: 2 });
    const idle = await next('--quiet');
    expect([idle.code, idle.shown, idle.err]).toEqual([1, ['summary'], '']);
    appendFileSync(at('in.ndjson'), lines([b!, ...pair('g3'), member('g2', 1)]));
    const second = await next();
    // Of what was said before nothing is said again.
    expect(second.shown).toEqual(['g1.0', 'g1.1', 'g3.0', 'g3.1', 'too_few_scored', 'summary']);
    expect(second.summary).toMatchObject({ trajectories: 4, groups_from_last_run: 2, groups_for_next_run: 0 });
    appendFileSync(at('in.ndjson'), lines([member('g1', 1, { id: 'again' })]));
    expect((await next()).shown).toEqual(['late', 'summary']);
  });

  it('gives the same bytes for the same input and cursor, one long run the same samples as several', async () => {
    const all = [...pair('g0'), ...pair('g1', { reward: 0 }), ...pair('g2', { steps: 3 })];
    writeFileSync(at('whole.ndjson'), lines(all));
    const whole = await curate('whole.ndjson');
    writeFileSync(at('in.ndjson'), lines(all.slice(0, 3)));
    const parts = [await next('-o', 'one')];
    const kept = readFileSync(cursorFile());
    appendFileSync(at('in.ndjson'), lines(all.slice(3)));
    parts.push(await next('-o', 'two'));
    const two = readFileSync(at('two'));
    // As if the machine had gone down before the cursor moved.
    writeFileSync(cursorFile(), kept);
    await next('-o', 'again');
    expect(readFileSync(at('again'))).toEqual(two);
    expect(parts.map((part) => part.code)).toEqual([0, 0]);
    const samples = (text: string) => text.split('\n').filter((line) => line.includes('"sample"'));
    expect(samples(readFileSync(at('one'), 'utf8') + two)).toEqual(
      samples(whole.out).filter((line) => !line.includes('"injected":true') && !line.includes('"g1"')),
    );
  });

  it('leaves a last line that is still being written to the next run, and names lines as they stand in the file', async () => {
    const text = lines([...pair('g0'), ...pair('g1')]);
    writeFileSync(at('in.ndjson'), text.slice(0, -40));
    const first = await next();
    expect([first.code, first.summary.trajectories]).toEqual([0, 3]);
    writeFileSync(at('in.ndjson'), `${text}\n{"type":"trajectory"}\n`);
    const second = await next();
    expect([second.code, second.err]).toEqual([2, expect.stringContaining('in.ndjson:6: not a valid trajectory')]);
    // Nothing was moved: the same again, and with skip the rest.
    const third = await next('--on-error', 'skip');
    expect(third.shown).toEqual(['g1.0', 'g1.1', 'bad_record', 'summary']);
    expect((await next()).shown).toEqual(['summary']);
  });

  it('reads a rotated file to its end, and then the new one', async () => {
    writeFileSync(at('in.ndjson'), lines([...pair('g0'), member('g1', 0)]));
    await next();
    appendFileSync(at('in.ndjson'), lines([member('g1', 1)]));
    renameSync(at('in.ndjson'), at('in.ndjson.1'));
    writeFileSync(at('in.ndjson'), lines(pair('g2')));
    const rotated = await next();
    expect([rotated.shown, rotated.err]).toEqual([
      ['g1.0', 'g1.1', 'g2.0', 'g2.1', 'summary'],
      expect.not.stringContaining('replaced'),
    ]);
    appendFileSync(at('in.ndjson'), lines(pair('g3')));
    expect((await next()).shown).toEqual(['g3.0', 'g3.1', 'summary']);
  });

  it('begins anew where the file was cut or replaced, and says so', async () => {
    writeFileSync(at('in.ndjson'), lines(pair('g0')));
    await next();
    truncateSync(at('in.ndjson'));
    appendFileSync(at('in.ndjson'), lines(pair('g1')));
    const cut = await next();
    expect([cut.shown, cut.err]).toEqual([
      ['g1.0', 'g1.1', 'summary'],
      expect.stringMatching(
        /in\.ndjson: the file was cut \(it had \d+ bytes .*Lines that came after line 2 .* are lost/,
      ),
    ]);
    rmSync(at('in.ndjson'));
    writeFileSync(at('in.ndjson'), lines(pair('g2')));
    expect((await next()).err).toMatch(/in\.ndjson: the file was replaced; it is read from its beginning/);
  });

  it('closes what stays incomplete by the time in the input, not by the clock', async () => {
    writeFileSync(at('in.ndjson'), lines(pair('g0', { size: 3, minute: 0 })));
    expect((await next()).shown).toEqual(['summary']);
    appendFileSync(at('in.ndjson'), lines([member('g1', 0, { minute: 9 })]));
    expect((await next()).shown).toEqual(['summary']);
    // Ten minutes after the last member of g0: the default of --group-timeout.
    appendFileSync(at('in.ndjson'), lines([member('g1', 1, { minute: 10 })]));
    expect((await next()).shown).toEqual(['g1.0', 'g1.1', 'g0.0', 'g0.1', 'summary']);
  });

  it('remembers how far versions had come', async () => {
    writeFileSync(at('in.ndjson'), lines([{ type: 'checkpoint', v: 1, version: 20, path: 'p' }]));
    await next();
    appendFileSync(at('in.ndjson'), lines(pair('g0', { version: 3 })));
    expect((await next()).shown).toEqual(['stale', 'stale', 'too_few_scored', 'summary']);
  });

  it('does not move when the output cannot be written', async () => {
    writeFileSync(at('in.ndjson'), lines(pair('g0')));
    expect((await next('-o', '/proc/nowhere/out')).code).toBe(2);
    expect((await next()).shown).toEqual(['g0.0', 'g0.1', 'summary']);
  });

  it('says which options do not go together, and what is no cursor', async () => {
    const refused = async (...args: string[]) => {
      const { code, err } = await curate(...args);
      return [code, err.split('\n')[0]];
    };
    expect(await refused('--cursor', 'c')).toEqual([
      2,
      'dart-curate: --cursor: standard input has no place to go on from. Try: files, or --from-store',
    ]);
    expect((await refused('-', '--cursor', 'c'))[0]).toBe(2);
    expect((await refused('f', '--cursor', 'c', '--follow'))[1]).toContain('--follow never ends');
    expect((await refused('f', '--cursor', '../c'))[1]).toContain(
      "expected letters, digits, . _ and - but received '../c'",
    );
    expect((await refused('f', '--from-store'))[1]).toContain('--from-store: expected no files');
    writeFileSync(at('in.ndjson'), '');
    await next();
    writeFileSync(cursorFile(), 'nonsense');
    expect((await next()).err).toContain('c.ndjson: this is not a cursor. Try: another --cursor name');
    writeFileSync(cursorFile(), '{"v":2}\n');
    expect((await next()).err).toContain('the cursor has version 2, this toolkit reads version 1');
  });
});

describe('--cursor over the store', () => {
  const nextOf = (...args: string[]) => curate('--from-store', '--cursor', 'c', '--store', 'sqlite:dart.db', ...args);

  it('takes up what has arrived since the last run, and keeps its place in the store', async () => {
    const store = await openStore(`sqlite:${at('dart.db')}`);
    const demo = trajectory({ id: 'demo', group: 'd', reward: 1 });
    await store.addExperience([demo], { capacity: 8, experience: true });
    await store.insertTrajectories([...pair('g0'), member('g1', 0)]);
    const first = await nextOf();
    expect(first.shown).toEqual(['g0.0', 'g0.1', 'summary']);
    expect((await nextOf()).shown).toEqual(['summary']);
    await store.insertTrajectories([member('g1', 1), ...pair('g2')]);
    expect((await nextOf()).shown).toEqual(['g1.0', 'g1.1', 'g2.0', 'g2.1', 'summary']);
    const cursor = await store.readCursor<{ state: { store: { rollout_seq: number } } }>('curate/c');
    expect(cursor!.state.store.rollout_seq).toBe(7);
    await store.close();
  });

  it('closes groups that nobody is working on any more', async () => {
    const store = await openStore(`sqlite:${at('dart.db')}`);
    const plan = (group_id: string) => ({ group_id, run_id: 'run1', task_id: 'chrome/t1', size: 3 });
    await store.planGroups([plan('left'), plan('busy')]);
    await store.leaseWork([{ group_id: 'busy', rollout_index: 2 }], 'other', 60_000);
    await store.insertTrajectories([...pair('left', { size: 3 }), ...pair('busy', { size: 3 })]);
    const { shown, summary } = await nextOf();
    expect([shown, summary.groups_for_next_run]).toEqual([['left.0', 'left.1', 'summary'], 1]);
    await store.close();
  });

  it('closes groups that the store has closed, once nobody works on them', async () => {
    const store = await openStore(`sqlite:${at('dart.db')}`);
    const plan = (group_id: string) => ({ group_id, run_id: 'run1', task_id: 'chrome/t1', size: 3 });
    await store.planGroups([plan('passed'), plan('learned'), plan('busy')]);
    await store.leaseWork([{ group_id: 'busy', rollout_index: 2 }], 'other', 3_600_000);
    const groups = ['passed', 'learned', 'busy'].flatMap((group) => pair(group, { size: 3 }));
    await store.insertTrajectories(groups);
    await store.acknowledge(['passed', 'busy'], { reason: 'stale' });
    await store.acknowledge(['learned'], { version: 1 });
    const first = await nextOf();
    expect([first.shown, first.summary.groups_for_next_run]).toEqual([
      ['already_learned', 'already_learned', 'summary'],
      1,
    ]);
    await store.releaseLease('other');
    expect((await nextOf()).summary).toMatchObject({ groups_from_last_run: 1, groups_for_next_run: 0 });
    await store.close();
  });

  it('finds a rollout that got a lower number but came later', async () => {
    const store = await openStore(`sqlite:${at('dart.db')}`);
    await store.insertTrajectories([...pair('g0'), member('g1', 0), member('g1', 1)]);
    const row = await store.db.selectFrom('rollout').selectAll().where('trajectory_id', '=', 'g1.0').executeTakeFirst();
    await store.db.deleteFrom('rollout_step').where('trajectory_id', '=', 'g1.0').execute();
    await store.db.deleteFrom('rollout').where('trajectory_id', '=', 'g1.0').execute();
    expect((await nextOf()).shown).toEqual(['g0.0', 'g0.1', 'summary']);
    await store.db.insertInto('rollout').values(row!).execute();
    expect((await nextOf()).shown).toEqual(['g1.0', 'g1.1', 'summary']);
    await store.close();
  });

  it('reads all of the store without a cursor', async () => {
    const store = await openStore(`sqlite:${at('dart.db')}`);
    await store.insertTrajectories(pair('g0', { size: 3 }));
    await store.close();
    expect((await curate('--from-store', '--store', 'sqlite:dart.db')).shown).toEqual(['g0.0', 'g0.1', 'summary']);
  });

  it.each([['--store', 'sqlite:typo.db'], []])('makes no store where there is none (%s %s)', async (...store) => {
    const { code, out, err } = await curate('--from-store', '--cursor', 'c', ...store);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining('there is no such store')]);
    expect(readdirSync(cwd, { recursive: true }).filter((name) => String(name).endsWith('.db'))).toEqual([]);
  });
});

describe('the lock', () => {
  it('lets a second run end with 75 and say who holds it', async () => {
    writeFileSync(at('in.ndjson'), lines(pair('g0')));
    const unlock = takeLock(at('.local/state/dart/cursors/c.lock'), 'dart-curate --cursor c');
    const second = await next('-o', 'out');
    expect([second.code, second.out]).toEqual([75, '']);
    expect(second.err).toMatch(
      new RegExp(
        `c\\.lock: another run holds the lock: process ${process.pid} on .+, dart-curate --cursor c\\. Try: wait`,
      ),
    );
    unlock();
    expect((await next()).code).toBe(0);
    expect(readFileSync(at('.local/state/dart/cursors/c.lock'), 'utf8')).toBe('');
  });

  it('can be any file, and is given back when the command fails', async () => {
    const unlock = takeLock(at('my.lock'), 'something else');
    writeFileSync(at('in.ndjson'), lines(pair('g0')));
    expect((await curate('in.ndjson', '--lock', 'my.lock')).err).toContain('on');
    expect((await curate('in.ndjson', '--lock', 'my.lock')).code).toBe(75);
    unlock();
    expect((await curate('missing.ndjson', '--lock', 'my.lock')).code).toBe(2);
    expect((await curate('in.ndjson', '--lock', 'my.lock')).code).toBe(0);
    expect((await curate('in.ndjson', '--lock', '/proc/nowhere/x')).err).toContain('cannot');
  });
});
