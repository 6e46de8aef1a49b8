import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestIo, testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { createEmbeddedGuest } from '../../lib/desktop/guest.ts';
import { serveGuest } from '../../lib/guest/http_server.ts';
import { openStore } from '../../lib/store/index.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { spec } from './spec.ts';

const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
/** A task that no expert comes with. */
const BARE = JSON.stringify({ type: 'task', v: 1, id: 'a', instruction: 'do it', evaluator: { func: 'infeasible' } });
const TWO = ['--tasks', SUITE, '--task', 'chrome-bookmark-tea', '--task', 'calc-write-b2-7'];

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-rollout-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

async function rollout(args: string[], stdin?: string): Promise<TestIo & { code: number }> {
  const io = testIo({ stdin, cwd: dir });
  const code = await runCommand(spec, [...args, '--blobs', 'blobs', '--quiet'], io);
  return { ...io, code };
}

describe('dart-rollout', () => {
  it('lets experts succeed at their tasks and records every step with its screenshot', async () => {
    const { code, records, err } = await rollout([...TWO, '--env', 'embedded:2', '--policy', 'script', '-n', '2']);
    expect([code, err()]).toEqual([0, '']);
    const all = records();
    const trajectories = all.slice(0, -1).map((record) => parseRecord('trajectory', record, 'test'));
    expect(trajectories.map(({ task_id, reward, outcome }) => `${task_id} ${outcome} ${reward}`).sort()).toEqual([
      'calc-write-b2-7 success 1',
      'calc-write-b2-7 success 1',
      'chrome-bookmark-tea success 1',
      'chrome-bookmark-tea success 1',
    ]);
    const blobs = new BlobStore(join(dir, 'blobs'));
    for (const step of trajectories.flatMap(({ steps }) => steps)) {
      expect(blobs.readSync(step.observation.screenshot.sha256).subarray(1, 4)).toEqual(Buffer.from('PNG'));
    }
    expect(all.at(-1)).toMatchObject({
      type: 'summary',
      command: 'dart-rollout',
      trajectories: 4,
      scored: 4,
      success: 1,
    });
  });

  it('goes over the tasks so many times, each time on another desktop, and with --follow without an end', async () => {
    const many = [...TWO, '--policy', 'fixed:finished', '-n', '2', '--epochs', '3', '--run-id', 'r'];
    const { code, records } = await rollout(many);
    const trajectories = records().slice(0, -1) as unknown as Trajectory[];
    expect([code, trajectories.length]).toEqual([0, 12]);
    const begun = trajectories
      .filter(({ task_id }) => task_id === 'calc-write-b2-7')
      .map(({ group_id, steps }) => `${group_id} ${steps[0]!.observation.screenshot.sha256}`);
    const groups = [...new Set(begun)].sort();
    expect(groups.map((group) => group.split(' ')[0])).toEqual([0, 1, 2].map((n) => `r/calc-write-b2-7/${n}`));
    expect(new Set(groups.map((group) => group.split(' ')[1])).size).toBe(3);
    const both = await rollout([...many, '--follow']);
    expect([both.code, both.err()]).toEqual([2, expect.stringContaining('passes over the tasks have no end')]);
    const store = ['--store', 'sqlite:epochs.db'];
    expect((await rollout([...many, ...store])).records().at(-1)).toMatchObject({ trajectories: 12 });
    const again = await rollout([...many, ...store]);
    expect(again.records().at(-1)).toMatchObject({ trajectories: 0 });
  });

  it('gives a policy that only says finished nothing', async () => {
    const { records } = await rollout([...TWO, '--policy', 'fixed:finished', '-n', '1']);
    expect(records().at(-1)).toMatchObject({ trajectories: 2, success: 0 });
  });

  it('replays what was recorded: same screens, same rewards', async () => {
    const recorded = await rollout([
      ...TWO,
      '--policy',
      'script',
      '-n',
      '1',
      '--seed',
      '3',
      '--run-id',
      'r',
      '-o',
      'one.ndjson',
    ]);
    expect([recorded.code, recorded.out()]).toEqual([0, '']);
    const args = [...TWO, '--policy', 'replay:one.ndjson', '-n', '1', '--seed', '3', '--run-id', 'r'];
    const { records } = await rollout(args);
    const shape = ({ task_id, reward, steps }: Trajectory) => [task_id, reward, steps.map((step) => step.observation)];
    const first = readFileSync(join(dir, 'one.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const byTask = (list: unknown[]) => (list as Trajectory[]).slice(0, -1).map(shape).sort();
    expect(byTask(records())).toEqual(byTask(first));
  });

  it('takes tasks from standard input and passes on what it does not know', async () => {
    const file = join(SUITE, 'chrome/chrome-bookmark-tea.json');
    const task = { type: 'task', v: 1, ...JSON.parse(readFileSync(file, 'utf8')), domain: 'chrome' };
    const lines = [{ type: 'weather', sky: 'blue' }, task];
    const { code, records } = await rollout(
      ['--policy', 'script', '-n', '1'],
      lines.map((line) => JSON.stringify(line)).join('\n'),
    );
    expect(code).toBe(0);
    expect(records().map(({ type }) => type)).toEqual(['weather', 'trajectory', 'summary']);
    expect(records()[0]).toEqual({ type: 'weather', sky: 'blue' });
    expect(records()[1]).toMatchObject({ domain: 'chrome', reward: 1 });
  });

  it('ends at a broken line, or leaves it out and says so at the end', async () => {
    const broken = `${BARE}\n{"type":"task","v":1,"id":"b"}\n`;
    const failed = await rollout(['--policy', 'fixed:fail', '-n', '1'], broken);
    expect([failed.code, failed.out()]).toEqual([2, '']);
    expect(failed.err()).toMatch(/^dart-rollout: stdin:2: instruction: /);
    const skipped = await rollout(['--policy', 'fixed:fail', '-n', '1', '--on-error', 'skip'], broken);
    expect(skipped.code).toBe(2);
    expect(skipped.records().at(-1)).toMatchObject({ trajectories: 1, success: 1, skipped: 1 });
    const twice = await rollout(['--policy', 'fixed:fail'], `${BARE}\n${BARE}\n`);
    expect(twice.err()).toMatch(/^dart-rollout: stdin:2: task a came before/);
  });

  it('counts what ended in an error, without a reward, and exits 2', async () => {
    const { code, records } = await rollout(['--policy', 'script', '-n', '1'], BARE);
    expect(code).toBe(2);
    expect(records()).toMatchObject([
      {
        outcome: 'policy_error',
        reward: null,
        error: 'a: this task has no expert script. Try: give the task an "expert" field, or use another policy',
      },
      { trajectories: 1, scored: 0, success: null },
    ]);
  });

  it('acts in desktops that run already, though their stream stays open', async () => {
    const servers = await Promise.all(['far-0', 'far-1'].map((id) => serveGuest(createEmbeddedGuest(id))));
    const records = servers.map(({ url }, index) => ({
      ...{ type: 'env', v: 1, env_id: `far-${index}`, driver: 'embedded', state: 'ready', server_url: url },
      ...{ screen: { width: 160, height: 120 }, boot_ms: 1 },
    }));
    const stdin = new PassThrough();
    stdin.write(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const io = testIo({ stdin, cwd: dir });
    const args = [...TWO, '--env', '-', '--policy', 'script', '-n', '2', '--blobs', 'blobs', '--quiet'];
    expect([await runCommand(spec, args, io), io.err()]).toEqual([0, '']);
    const trajectories = io.records().slice(0, -1) as unknown as Trajectory[];
    expect(trajectories.map(({ outcome }) => outcome)).toEqual(['success', 'success', 'success', 'success']);
    expect(new Set(trajectories.map(({ env_id }) => env_id))).toEqual(new Set(['far-0', 'far-1']));
    await Promise.all(servers.map((server) => server.close()));
    expect((await rollout([...TWO, '--env', '-', '--policy', 'random'], '')).err()).toContain('no env record');
  });

  it.each([
    [['--policy', 'rndom', '--tasks', SUITE], '--policy: unknown policy "rndom". Try: onnx:PATH, script'],
    [['--policy', 'onnx:missing.onnx', '--tasks', SUITE], 'missing.onnx: there is no such policy file'],
    [['--policy', 'random', '--tasks', SUITE, '--env', 'embeded:2'], '--env: unknown desktops "embeded"'],
    [['--policy', 'random', '--tasks', 'nowhere'], 'nowhere: no such task file or folder'],
    [['--policy', 'random', '--tasks', SUITE, '--task', 'chrome-bookmark-te'], 'unknown task chrome-bookmark-te'],
    [['--policy', 'random', '--tasks', SUITE, '--domain', 'crome'], 'unknown domain crome'],
    [['--policy', 'random', '--tasks', SUITE, '--temprature', '1'], 'unknown option --temprature. Try: --temperature'],
    [['--tasks', SUITE], 'policy'],
    [['--policy', 'random'], 'stdin: no task record came'],
  ])('%j: says %s', async (args, message) => {
    const { code, out, err } = await rollout(args);
    expect([code, out()]).toEqual([2, '']);
    expect(err()).toContain(message);
    expect(err()).not.toContain('bug in the toolkit');
  });

  it('says so when screenshots cannot be kept', async () => {
    writeFileSync(join(dir, 'file'), '');
    const io = testIo({ cwd: dir });
    const code = await runCommand(spec, [...TWO, '--policy', 'random', '--blobs', 'file/blobs'], io);
    expect([code, io.out()]).toEqual([2, '']);
    expect(io.err()).toMatch(/file(\/blobs)?: cannot make the folder: /);
  });

  it('with --dry-run does nothing', async () => {
    const { code, out } = await rollout([...TWO, '--policy', 'random', '--dry-run']);
    expect([code, out()]).toEqual([0, '']);
    const missing = await rollout([...TWO, '--policy', 'onnx:missing.onnx', '--dry-run']);
    expect([missing.code, missing.err()]).toEqual([2, expect.stringContaining('there is no such policy file')]);
  });

  it('leaves bad lines of a file out, or a folder as output at once', async () => {
    writeFileSync(join(dir, 'tasks.ndjson'), `${BARE}\nnonsense\n`);
    const args = ['--tasks', 'tasks.ndjson', '--policy', 'fixed:fail', '-n', '1'];
    const failed = await rollout(args);
    expect([failed.code, failed.err()]).toEqual([2, expect.stringContaining('tasks.ndjson:2: not JSON')]);
    const skipped = await rollout([...args, '--on-error', 'skip']);
    expect([skipped.code, skipped.records().at(-1)]).toMatchObject([2, { trajectories: 1, skipped: 1 }]);
    const folder = await rollout([...args, '--on-error', 'skip', '-o', '.']);
    expect([folder.code, folder.err()]).toEqual([2, expect.stringContaining('it is a folder, not a file')]);
  });

  it('says when a run has everything already, and when its policy changed', async () => {
    writeFileSync(join(dir, 'one-task.ndjson'), `${BARE}\n`);
    const go = async (policy: string) => {
      const io = testIo({ cwd: dir });
      const args = ['--tasks', 'one-task.ndjson', '-n', '2', '--run-id', 'a', '--store', `sqlite:${dir}/a.db`];
      await runCommand(spec, [...args, '--policy', policy, '--blobs', 'blobs'], io);
      return io.err();
    };
    expect(await go('fixed:fail')).toContain('success 1.00');
    const again = await go('fixed:fail');
    expect(again).toContain('all 2 rollouts of run a are there already');
    expect(again).not.toContain('begun with');
    expect(await go('random')).toContain('run a was begun with policy fixed:fail and goes on with random');
  });

  it('with a store continues where the run ended', async () => {
    const args = [
      ...TWO,
      '--policy',
      'random',
      '-n',
      '3',
      '--max-steps',
      '3',
      '--run-id',
      'again',
      '--store',
      `sqlite:${dir}/dart.db`,
    ];
    const first = await rollout(args);
    expect(first.records().at(-1)).toMatchObject({ trajectories: 6 });
    const second = await rollout(args);
    expect(second.records()).toMatchObject([{ type: 'summary', trajectories: 0 }]);
    const store = await openStore(`sqlite:${dir}/dart.db`);
    expect(await store.listRuns()).toEqual(['again']);
    expect((await store.taskStatistics(['chrome-bookmark-tea'], 16)).get('chrome-bookmark-tea')?.scored).toBe(3);
    const desktops = await store.db
      .selectFrom('environment')
      .select(['owner', 'env_id', 'state', 'screen_width'])
      .orderBy('env_id')
      .execute();
    // Eight of each of the two processes, under the same names.
    const of = (owner: string) => desktops.filter((row) => row.owner === owner);
    const owners = [...new Set(desktops.map((row) => row.owner))];
    expect(owners.map((owner) => of(owner).length)).toEqual([8, 8]);
    for (const owner of owners) {
      expect(of(owner)[0]).toEqual({ owner, env_id: 'embedded-0', state: 'stopped', screen_width: 160 });
    }
    await store.close();
  });

  it('explains every switch of the method in its help', async () => {
    const io = testIo();
    expect(await runCommand(spec, ['--help'], io)).toBe(0);
    for (const option of ['--[no-]dynamic-rollouts', '--[no-]dynamic-length', '--mode', '--sync', '-n, --rollouts']) {
      expect(io.out()).toContain(option);
    }
  });
});
