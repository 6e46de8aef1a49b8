import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { shared } from '../../lib/stream/shared.testing.ts';
import { spec } from './spec.ts';

let dir = '';
let server: Server;
let origin = '';
const asked: string[] = [];
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dart-tasks-'));
  server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url?.includes('missing')) response.writeHead(404).end();
    else response.writeHead(200, { etag: `"${request.url}"` }).end(`file ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(dir, { recursive: true, force: true });
});

async function command(argv: string[], stdin?: string) {
  const io = testIo({ stdin, cwd: dir });
  const code = await runCommand(spec, argv, io);
  return { code, err: io.err(), out: io.out(), records: io.records(), summary: io.records().at(-1) };
}

const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const taskOf = (id: string, ...urls: string[]) =>
  `${JSON.stringify({
    ...{ type: 'task', v: 1, id, instruction: 'x', evaluator: { func: 'infeasible' } },
    config: [{ type: 'download', parameters: { files: urls.map((url) => ({ url, path: '/tmp/a' })) } }],
  })}\n`;

describe('dart-eval check', () => {
  const task = {
    ...{ id: 'one', instruction: 'x', proxy: true },
    config: [
      { type: 'download', parameters: { files: [{ url: 'https://x.test/a', path: '/a' }] } },
      { type: 'googledrive', parameters: { args: [{ url: 'https://x.test/b' }] } },
      { type: 'login', parameters: { platform: 'googledrive' } },
    ],
    evaluator: {
      func: ['exact_match', 'foretell'],
      result: [{ type: 'vm_command_line', command: 'x' }, { type: 'googledrive_file' }],
      expected: [
        { type: 'rule', rules: {} },
        { type: 'cloud_file', path: ['https://x.test/c', 'https://x.test/a'] },
      ],
      postconfig: [{ type: 'sleep', parameters: { seconds: 1 } }],
    },
  };

  it('says what a task needs, what is missing, and counts', async () => {
    const lines = `${JSON.stringify({ type: 'task', v: 1, ...task })}\n${taskOf('two')}`;
    const { code, records } = await command(['check', '--from', '-'], lines);
    expect(code).toBe(0);
    expect(records[0]).toMatchObject({
      ...{ type: 'check', task_id: 'one', verdict: 'unsupported', proxy: true, accounts: ['googledrive'] },
      steps: ['download', 'googledrive', 'login', 'sleep'],
      getters: ['vm_command_line', 'googledrive_file', 'rule', 'cloud_file'],
      metrics: ['exact_match', 'foretell'],
      assets: ['https://x.test/a', 'https://x.test/b', 'https://x.test/c'],
      reasons: [
        'metric foretell is not supported',
        'set-up step googledrive needs the Python bridge',
        'set-up step login needs the Python bridge',
        'getter googledrive_file needs the Python bridge',
      ],
    });
    expect(records[1]).toMatchObject({ task_id: 'two', verdict: 'native', reasons: [] });
    expect(records.at(-1)).toMatchObject({
      ...{ type: 'summary', tasks: 2, native: 1, bridge: 0, unsupported: 1 },
      reasons: { 'metric foretell is not supported': 1 },
    });
    expect((await command(['check', '--from', '-', '--fail-under', '2'], lines)).code).toBe(1);
  });

  it('finds its own suites native', async () => {
    const { summary, err } = await command(['check', '--from', join(packageRoot(), 'fixtures/tasks'), '--table']);
    expect(summary).toMatchObject({ bridge: 0, unsupported: 0 });
    expect(summary!.native).toBeGreaterThanOrEqual(120);
    expect(err).toMatch(/^all +\d+ +\d+ +0 +0$/m);
  });

  it('refuses two tasks with one id, and with --on-error skip leaves the second out', async () => {
    writeFileSync(join(dir, 'twice.ndjson'), taskOf('a') + taskOf('a') + taskOf('b'));
    const refused = await command(['check', '--from', 'twice.ndjson']);
    expect([refused.code, refused.out]).toEqual([2, '']);
    expect(refused.err).toContain('twice.ndjson:2: task a is already in');
    const { code, summary } = await command(['check', '--from', 'twice.ndjson', '--on-error', 'skip']);
    expect([code, summary]).toMatchObject([2, { tasks: 2, skipped: 1 }]);
  });

  it.skipIf(!shared)('reads all 418 tasks of OSWorld, and scores at least 340 of the 369', async () => {
    const linux = await command(['check', '--from', join(shared!, 'osworld/examples')]);
    expect(linux.summary).toMatchObject({ tasks: 369, skipped: 0 });
    expect(linux.summary!.native).toBeGreaterThanOrEqual(340);
    const windows = await command(['check', '--from', join(shared!, 'osworld/examples_windows')]);
    expect(windows.summary).toMatchObject({ tasks: 49, skipped: 0 });
    const small = await command(['check', '--from', join(shared!, 'osworld/test_small.json'), '--domain', 'vlc']);
    expect(small.records.slice(0, -1).every(({ domain }) => domain === 'vlc')).toBe(true);
  });
});

describe('dart-eval fetch-assets', () => {
  it('fills the cache once, tells what failed, and goes on from what is there', async () => {
    const tasks = taskOf('a', `${origin}/1`, `${origin}/2`) + taskOf('b', `${origin}/2`, `${origin}/missing`);
    const argv = ['fetch-assets', '--from', '-', '--asset-cache', 'cache'];
    const dry = await command([...argv, '--dry-run'], tasks);
    expect([dry.code, dry.out, existsSync(join(dir, 'cache'))]).toEqual([0, '', false]);
    expect(dry.err).toContain('would fetch 3 of 3 files');
    const first = await command(argv, tasks);
    expect(first.code).toBe(2);
    expect(first.err).toContain(`${origin}/missing: the server has no such file (HTTP 404)`);
    expect(first.summary).toMatchObject({ assets: 3, downloaded: 2, present: 0, failed: 1, bytes: 14 });
    const one = first.records.find(({ url }) => url === `${origin}/1`);
    expect(one).toMatchObject({ type: 'asset', size: 7, sha256: sha('file /1'), state: 'downloaded' });

    asked.length = 0;
    const found = readdirSync(join(dir, 'cache'), { recursive: true }).map(String);
    const contents = found.filter((name) => name.endsWith('content'));
    expect(contents).toHaveLength(2);
    writeFileSync(join(dir, 'cache', contents[0]!), 'xxxx /1');
    const second = await command(argv, tasks);
    expect(second.summary).toMatchObject({ downloaded: 0, present: 1, replaced: 1, failed: 1 });
    expect(asked).toHaveLength(2);
    expect(readFileSync(join(dir, 'cache', contents[0]!), 'utf8')).toMatch(/^file /);
  });

  it('holds files to the checksums of an earlier run', async () => {
    const record = { type: 'asset', v: 1, url: `${origin}/1`, size: 7, sha256: '0'.repeat(64), state: 'downloaded' };
    writeFileSync(join(dir, 'sums.ndjson'), `${JSON.stringify(record)}\n`);
    const argv = ['fetch-assets', '--from', '-', '--asset-cache', 'other', '--checksums', 'sums.ndjson'];
    const { code, err, summary } = await command(argv, taskOf('a', `${origin}/1`));
    expect([code, summary]).toMatchObject([2, { failed: 1, downloaded: 0 }]);
    expect(err).toContain(`hash mismatch: it has sha256 ${sha('file /1')}, and should have 0000`);
  });

  it('keeps a good file until another has come in its place', async () => {
    const argv = ['fetch-assets', '--from', '-', '--asset-cache', 'kept'];
    const tasks = taskOf('a', `${origin}/1`);
    const first = await command(argv, tasks);
    const sums = { ...first.records[0], sha256: '0'.repeat(64) };
    writeFileSync(join(dir, 'other.ndjson'), `${JSON.stringify(sums)}\n`);
    const second = await command([...argv, '--checksums', 'other.ndjson'], tasks);
    expect([second.code, second.summary]).toMatchObject([2, { failed: 1 }]);
    expect((await command(argv, tasks)).summary).toMatchObject({ present: 1, downloaded: 0 });
  });

  it('names what no server has to give', async () => {
    const tasks = taskOf('a', 'file:///tmp/a', 'ftp://x.test/b', 'data:,c', `${origin}/1`);
    const check = await command(['check', '--from', '-'], tasks);
    expect(check.records[0]).toMatchObject({
      assets: [`${origin}/1`],
      not_fetchable: ['file:///tmp/a', 'ftp://x.test/b'],
    });
    const { code, err, records, summary } = await command(['fetch-assets', '--from', '-', '--asset-cache', 'f'], tasks);
    expect([code, summary]).toMatchObject([2, { assets: 3, downloaded: 1, failed: 2 }]);
    expect(err).toContain('ftp://x.test/b: it is no http address');
    expect(records.find(({ url }) => url === 'file:///tmp/a')).toMatchObject({ state: 'failed' });
  });

  it('is the task’s error where a file is missing: no desktop is replaced for it, and nothing is tried again', async () => {
    const argv = ['--tasks', '-', '--policy', 'fixed:finished', '--repeats', '1', '--asset-cache', 'fifth'];
    for (const url of [`${origin}/missing`, 'ftp://x.test/b']) {
      asked.length = 0;
      const { err, summary } = await command(argv, taskOf('lost', url));
      expect(summary).toMatchObject({ scored: 0, outcomes: { evaluator_error: 1 } });
      expect(err).not.toContain('replaced');
      expect(err).not.toContain('retired');
      expect(asked.length).toBeLessThanOrEqual(1);
    }
  });

  it('gives a task of an evaluation its file', async () => {
    const task = JSON.stringify({
      ...{ type: 'task', v: 1, id: 'given', domain: 'os', instruction: 'x' },
      config: [{ type: 'download', parameters: { files: [{ url: `${origin}/1`, path: '/home/user/Desktop/a.txt' }] } }],
      evaluator: {
        func: 'compare_text_file',
        result: { type: 'vm_file', path: '/home/user/Desktop/a.txt', dest: 'a.txt' },
        expected: { type: 'cloud_file', path: `${origin}/1`, dest: 'b.txt' },
      },
    });
    const argv = ['--tasks', '-', '--policy', 'fixed:finished', '--repeats', '2', '--asset-cache', 'third', '-q'];
    asked.length = 0;
    const { summary } = await command(argv, task);
    expect(summary).toMatchObject({ success_rate: 1, scored: 2 });
    expect(asked).toEqual(['/1']);
    expect((await command([...argv, '--offline'], task)).summary).toMatchObject({ success_rate: 1 });
  });
});

describe('dart-eval metric', () => {
  it('scores files, values and rules', async () => {
    writeFileSync(join(dir, 'mine.txt'), 'Hello\n');
    writeFileSync(join(dir, 'gold.txt'), 'hello\n');
    const text = ['metric', 'compare_text_file', 'mine.txt', 'gold.txt'];
    const differs = await command(text);
    expect(differs).toMatchObject({ code: 0, records: [{ type: 'metric', name: 'compare_text_file', value: 0 }] });
    expect(differs.err).toContain('compare_text_file: 0\n');
    const alike = await command([...text, '--options', '{"ignore_case": true}', '--fail-under', '1']);
    expect(alike).toMatchObject({ code: 0, records: [{ value: 1 }] });
    expect((await command([...text, '--fail-under', '1'])).code).toBe(1);
    const hard = await command([...text, '--protocol', 'hard']);
    expect(hard.records).toMatchObject([{ value: 0, protocol: 'hard' }]);
    const rules = ['--rules', '{"include": ["ell"], "exclude": ["x"]}'];
    for (const result of ['text:Hello', 'text:@mine.txt', 'json:"Hello"'])
      expect((await command(['metric', 'check_include_exclude', result, ...rules])).records).toMatchObject([
        { value: 1 },
      ]);
    expect((await command(['metric', 'check_include_exclude', 'text:x', ...rules])).records).toMatchObject([
      { value: 0 },
    ]);
  });

  it.each([
    [
      ['compare_text_file', 'mine.txt', 'gold.txt', '--options', '[1]'],
      'options of compare_text_file should be an object',
    ],
    [['compare_text_fil', 'mine.txt', 'gold.txt'], 'unknown metric compare_text_fil. Try: one of'],
    [['compare_text_file', 'mine.txt', 'none.txt'], 'none.txt'],
    [['exact_match', 'json:{', 'text:a'], 'RESULT: not JSON'],
    [['exact_match', 'text:a', 'text:b', '--rules', '{}'], '--rules: EXPECTED and --rules are the same thing'],
    [['check_include_exclude', 'text:a', '--rules', '{"include": 7}'], 'check_include_exclude'],
  ])('says of %j what is wrong', async (argv, message) => {
    const { code, err, out } = await command(['metric', ...argv]);
    expect([code, out]).toEqual([2, '']);
    expect(err.split('\n')[0]).toContain(message);
  });
});
