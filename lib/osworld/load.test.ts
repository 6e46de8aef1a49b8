import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import { shared } from '../stream/shared.testing.ts';
import { loadTasks, type TaskFilter } from './load.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tasks-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const text = (id: string) => JSON.stringify({ id, instruction: 'do it', evaluator: { func: 'infeasible' } });

function put(path: string, content: string): string {
  const file = join(dir, path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, content);
  return file;
}

async function idsOf(path: string, filter?: TaskFilter): Promise<string[]> {
  const ids: string[] = [];
  for await (const task of loadTasks(path, filter)) ids.push(`${task.domain}/${task.task_id}`);
  return ids;
}

async function failure(path: string, filter?: TaskFilter): Promise<string> {
  return idsOf(path, filter).then(
    (ids) => `loaded ${ids}`,
    (error: DartError) => error.describe().replaceAll(dir, ''),
  );
}

describe('loadTasks', () => {
  beforeEach(() => {
    for (const path of ['chrome/c1', 'chrome/c2', 'os/o1', 'os/o2', 'vlc/v1']) {
      put(`examples/${path}.json`, text(path.slice(-2)));
    }
  });

  it('reads a folder in order of path; folders are domains', async () => {
    expect(await idsOf(dir)).toEqual(['chrome/c1', 'chrome/c2', 'os/o1', 'os/o2', 'vlc/v1']);
    expect(await idsOf(join(dir, 'examples', 'os'))).toEqual(['os/o1', 'os/o2']);
  });

  it('reads a single file, lines, and a meta list beside the examples', async () => {
    expect(await idsOf(join(dir, 'examples', 'os', 'o2.json'))).toEqual(['os/o2']);
    const line = JSON.stringify({ ...JSON.parse(text('a')), type: 'task', v: 1, task_id: 'x', domain: 'gimp' });
    expect(await idsOf(put('some.ndjson', `\uFEFF${line}\n\n${text('b')}`))).toEqual(['gimp/x', 'unknown/b']);
    expect(await idsOf(put('test_small.json', '{"vlc": ["v1"], "chrome": ["c2"]}'))).toEqual(['vlc/v1', 'chrome/c2']);
    expect(await idsOf(dir)).toHaveLength(5);
  });

  it('leaves out what is wrong and tells of it, when asked to', async () => {
    const lines = put('lines.ndjson', `${text('a')}\nnonsense\n${text('a')}\n{"id":"b"}\n${text('c')}\n`);
    put('examples/os/o3.json', '{"id": oops}');
    const told: string[] = [];
    const onBad = (error: DartError) => told.push(error.describe().replaceAll(dir, ''));
    const ids = async (path: string) => {
      const found: string[] = [];
      for await (const task of loadTasks(path, {}, { onBad })) found.push(task.task_id);
      return found;
    };
    expect(await ids(lines)).toEqual(['a', 'c']);
    expect(told.map((text) => text.split(':').slice(0, 3).join(':'))).toEqual([
      '/lines.ndjson:2: not JSON',
      '/lines.ndjson:4: instruction',
      '/lines.ndjson:3: task a is already in /lines.ndjson',
    ]);
    expect(await ids(join(dir, 'examples'))).toEqual(['c1', 'c2', 'o1', 'o2', 'v1']);
    expect(told.at(-1)).toMatch(/^\/examples\/os\/o3\.json:1: not JSON: /);
    await expect(ids(join(dir, 'examples/os/o3.json'))).rejects.toThrow('no task came');
    await expect(ids(put('empty.ndjson', ''))).rejects.toThrow('no task came');
  });

  it('filters by domain, id, meta list and sample', async () => {
    const meta = put('meta.json', '{"os": ["o1", "o2"], "vlc": ["v1"]}');
    expect(await idsOf(dir, { domains: ['os', 'vlc'] })).toEqual(['os/o1', 'os/o2', 'vlc/v1']);
    expect(await idsOf(dir, { ids: ['v1', 'c1'] })).toEqual(['chrome/c1', 'vlc/v1']);
    expect(await idsOf(dir, { meta, domains: ['os'] })).toEqual(['os/o1', 'os/o2']);
    const sample = await idsOf(dir, { sample: 2, seed: 7 });
    expect(sample).toHaveLength(2);
    expect(await idsOf(dir, { sample: 2, seed: 7 })).toEqual(sample);
    const all = await Promise.all([1, 2, 3, 4, 5, 6].map((seed) => idsOf(dir, { sample: 2, seed })));
    expect(new Set(all.map(String)).size).toBeGreaterThan(1);
  });

  it('says what is wrong, and where', async () => {
    expect(await failure(dir, { ids: ['c3'] })).toBe(': unknown task c3. Try: one of 5 ids, such as c1, c2, o1');
    expect(await failure(dir, { domains: ['gimp'] })).toBe(': unknown domain gimp. Try: one of chrome, os, vlc');
    expect(await failure(join(dir, 'none'))).toBe('/none: no such task file or folder');
    mkdirSync(join(dir, 'empty'));
    expect(await failure(join(dir, 'empty'))).toBe('/empty: no task files (*.json) in this folder');
    expect(await failure(put('bad.ndjson', `${text('a')}\n{"id": oops}\n`))).toMatch(/^\/bad\.ndjson:2: not JSON: /);
    writeFileSync(join(dir, 'packed'), gzipSync(text('a')));
    expect(await failure(join(dir, 'packed'))).toMatch(/^\/packed: it is compressed \(gzip\)\. Try: zcat .*packed > /);
    expect(await failure(put('x/bad.json', '{\n  "id": "a",\n  oops\n}'))).toMatch(/^\/x\/bad\.json:3: not JSON: /);
    const page = put('page.md', `# A page\n${'more\n'.repeat(131)}`);
    expect(await failure(page)).toMatch(/^\/page\.md:1: not JSON: .*Try: a \.json file of a task or a meta list, an/s);
    expect(await failure(put('pretty.ndjson', '{\n"id": "a"}'))).toMatch(/^\/pretty\.ndjson:1: .*Try: jq -c ., which/);
    expect(await failure(put('y/cut.json', '{\n"id": "a",'))).toMatch(/^\/y\/cut\.json:2: not JSON: /);
  });

  it('refuses ids given twice and paths that escape', async () => {
    put('examples/vlc/again.json', text('o1'));
    expect(await failure(dir)).toBe('/examples/vlc/again.json: task o1 is already in /examples/os/o1.json');
    put('secret.json', text('s'));
    const message = '"../../secret" is not a task id or domain';
    expect(await failure(put('m.json', '{"os": ["../../secret"]}'))).toContain(message);
  });
});

describe.skipIf(!shared)('the folders of OSWorld', () => {
  const root = join(shared ?? '', 'osworld');

  it('load with their meta lists', async () => {
    expect(await idsOf(join(root, 'examples'))).toHaveLength(369);
    expect(await idsOf(join(root, 'examples_windows'))).toHaveLength(49);
    expect(await idsOf(join(root, 'test_small.json'))).toHaveLength(39);
    expect(await idsOf(join(root, 'examples'), { meta: join(root, 'test_infeasible.json') })).toHaveLength(28);
  });
});
