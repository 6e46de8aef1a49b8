import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { spec } from './spec.ts';

const dir = mkdtempSync(join(tmpdir(), 'dart-tasks-'));
afterAll(() => rmSync(dir, { recursive: true }));

async function tasks(args: string[], stdin = '') {
  const io = testIo({ stdin, cwd: dir });
  return { code: await runCommand(spec, ['tasks', ...args], io), ...io };
}

it('leaves bad lines of a file out and counts them, or ends at the first', async () => {
  const good = JSON.stringify({ id: 'a', instruction: 'do it', evaluator: { func: 'infeasible' } });
  writeFileSync(join(dir, 'some.ndjson'), `nonsense\n${good}\n`);
  const failed = await tasks(['--from', 'some.ndjson']);
  expect([failed.code, failed.err()]).toEqual([2, expect.stringContaining('some.ndjson:1: not JSON')]);
  const skipped = await tasks(['--from', 'some.ndjson', '--on-error', 'skip']);
  expect(skipped.code).toBe(2);
  expect(skipped.records()).toMatchObject([{ task_id: 'a' }, { type: 'summary', tasks: 1, skipped: 1 }]);
});

it('speaks of no filter where there is none', async () => {
  const { code, err } = await tasks(['--from', '-']);
  expect([code, err()]).toEqual([2, 'dart-env: stdin: no task came. Try: a source that has tasks\n']);
});
