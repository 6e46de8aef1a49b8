import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { curateIn, grey, lines } from './curate.testing.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-form-'));
  mkdirSync(join(cwd, 'dart', 'a_trace-1'), { recursive: true });
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: 'Action: wait()' },
  ];
  writeFileSync(join(cwd, 'dart', 'a_trace-1.json'), JSON.stringify(messages));
  writeFileSync(join(cwd, 'dart', 'a_trace-1', 'image_0000.png'), grey(1));
  mkdirSync(join(cwd, 'osworld', 'chrome', 't1'), { recursive: true });
  writeFileSync(join(cwd, 'osworld', 'chrome', 't1', 'traj.jsonl'), lines([{ step_num: 1, action: 'DONE' }]));
  writeFileSync(join(cwd, 'osworld', 'args.json'), '{}');
  mkdirSync(join(cwd, 'plain'));
  writeFileSync(join(cwd, 'plain', 'in.ndjson'), lines([{ task_id: 'a', steps: [] }]));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const importAs = (form: string, path: string, ...more: string[]) =>
  curateIn(cwd, ['import', '--from', form, path, '--blobs', 'blobs', ...more]);

describe('dart-curate import of files of another form', () => {
  it.each([
    ['osworld', 'dart', 1, 'dart: no episode of the form osworld was found. Try: --from dart'],
    ['osworld', 'dart/a_trace-1', 1, 'dart/a_trace-1: no episode of the form osworld was found. Try: --from dart'],
    ['osworld', 'dart/a_trace-1.json', 2, 'dart/a_trace-1.json: not a traj.jsonl. Try: --from dart'],
    ['osworld', 'plain', 1, 'plain: no episode of the form osworld was found. Try: --from jsonl plain/in.ndjson'],
    ['dart', 'osworld', 1, 'osworld: no episode of the form dart was found. Try: --from osworld'],
    ['dart', 'osworld/chrome/t1/traj.jsonl', 2, 'Try: --from osworld'],
    ['dart', 'plain/in.ndjson', 2, 'Try: --from jsonl'],
    ['jsonl', 'osworld', 2, 'osworld: it is a folder, not a file. Try: --from osworld'],
    ['jsonl', 'plain', 2, 'plain: it is a folder, not a file. Try: --from jsonl plain/in.ndjson'],
    ['jsonl', 'dart/a_trace-1.json', 2, 'dart/a_trace-1.json:1: expected a JSON object. Try: --from dart'],
    ['jsonl', 'osworld/chrome/t1/traj.jsonl', 2, 'Try: --from osworld'],
  ])('as %s of %s names the form to say', async (form, path, code, message) => {
    const run = await importAs(form, path);
    expect([run.code, run.stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  it('keeps the advice about a file that is of the form that was said', async () => {
    const run = await importAs('jsonl', 'plain/in.ndjson');
    expect(run.stderr).toContain(
      'dart-curate: plain/in.ndjson:1: not a trajectory in the simple form: steps: Too small',
    );
    expect(run.stderr).toContain('Try: docs/import.md, "--from jsonl"');
    writeFileSync(join(cwd, 'dart', 'traj.jsonl'), '');
    writeFileSync(join(cwd, 'dart', 'a_trace-1', 'reward.txt'), '7');
    expect((await importAs('dart', 'dart')).stderr).toContain('Try: a number from 0 to 1');
  });

  it('names files as the command line does, absolute where they were given so', async () => {
    const events = async (path: string) => (await importAs('osworld', path)).of('event').map(({ where }) => where);
    expect(new Set(await events('osworld'))).toEqual(new Set(['osworld/chrome/t1/traj.jsonl']));
    expect(new Set(await events(join(cwd, 'osworld')))).toEqual(
      new Set([join(cwd, 'osworld', 'chrome', 't1', 'traj.jsonl')]),
    );
    expect(new Set(await events('osworld/chrome/t1/traj.jsonl'))).toEqual(new Set(['osworld/chrome/t1/traj.jsonl']));
    mkdirSync(join(cwd, 'tasks'));
    writeFileSync(join(cwd, 'tasks', 'broken.json'), '{');
    expect((await importAs('osworld', 'osworld', '--task-dir', 'tasks')).stderr).toContain(
      'dart-curate: tasks/broken.json',
    );
    const screens = await importAs('osworld', 'osworld', '--initial-screens', 'nowhere');
    expect(screens.stderr).toContain('dart-curate: nowhere: cannot read: no such file');
  });

  it('counts replies that cannot be read in trajectory records too', async () => {
    writeFileSync(join(cwd, '1.png'), grey(1));
    const steps = [{ response: 'hm', screenshot: '1.png' }];
    writeFileSync(join(cwd, 'one.ndjson'), lines([{ task_id: 'a', instruction: 'i', reward: 1, steps }]));
    const first = await importAs('jsonl', 'one.ndjson');
    writeFileSync(join(cwd, 'two.ndjson'), first.stdout);
    const again = await importAs('jsonl', 'two.ndjson');
    for (const run of [first, again]) {
      expect(run.summary.parse_errors).toBe(1);
      expect(run.stderr).toContain('1 replies could not be read as actions');
    }
    expect((await curateIn(cwd, ['demos'], first.stdout)).stderr).toContain(
      '1 steps have replies that could not be read',
    );
  });
});
