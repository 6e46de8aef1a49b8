import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { orSkip } from '../../lib/stream/shared.testing.ts';
import { spec } from './spec.ts';

const found = spawnSync('python3', ['--version']).status === 0 ? 'python3' : null;
const python = orSkip('python3', found, 'python3 does not start');

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-eval-bridge-'));
  const evaluators = join(dir, 'osworld/desktop_env/evaluators');
  mkdirSync(evaluators, { recursive: true });
  mkdirSync(join(dir, 'osworld/desktop_env/controllers'));
  for (const folder of ['', 'evaluators/', 'controllers/'])
    writeFileSync(join(dir, `osworld/desktop_env/${folder}__init__.py`), '');
  const metric = 'def compare_image_text(path, rule):\n    return float(open(path).read() == rule["text"])\n';
  writeFileSync(join(evaluators, 'metrics.py'), metric);
  writeFileSync(join(evaluators, 'getters.py'), '');
  writeFileSync(join(dir, 'osworld/desktop_env/controllers/setup.py'), 'class SetupController:\n    pass\n');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function command(argv: string[], stdin?: string) {
  const io = testIo({ stdin, cwd: dir });
  const code = await runCommand(spec, argv, io);
  return { code, err: io.err(), records: io.records() };
}

const task = JSON.stringify({
  ...{ type: 'task', v: 1, id: 'read', domain: 'os', instruction: 'x' },
  evaluator: {
    func: 'compare_image_text',
    result: { type: 'inline_file', content: 'words' },
    expected: { type: 'rule', rules: { text: 'words' } },
  },
});
const argv = ['--tasks', '-', '--policy', 'fixed:finished', '--repeats', '2', '-q'];

describe.skipIf(!python)('dart-eval --python-bridge', () => {
  it('runs and scores what is unsupported without it', async () => {
    const without = await command(argv, task);
    expect(without.code).toBe(1);
    expect(without.records).toMatchObject([
      { score: null, rollouts: 0, unsupported: 'metric compare_image_text needs the Python bridge' },
      { unsupported: 1, success_rate: null },
    ]);
    const { code, records } = await command([...argv, '--python-bridge', 'osworld'], task);
    expect([code, records]).toMatchObject([
      0,
      [
        { score: 1, scored: 2 },
        { unsupported: 0, success_rate: 1 },
      ],
    ]);
  });

  it('serves single metrics, too', async () => {
    writeFileSync(join(dir, 'a.txt'), 'words');
    const one = ['metric', 'compare_image_text', 'a.txt', '--rules', '{"text": "other"}'];
    expect((await command([...one, '--python-bridge', 'osworld'])).records).toMatchObject([{ value: 0 }]);
    expect((await command(one)).err).toContain('--python-bridge');
  });

  it('says that there is no OSWorld', async () => {
    const { code, err } = await command([...argv, '--python-bridge', 'nowhere'], task);
    expect(code).toBe(2);
    expect(err).toContain('--python-bridge nowhere: there is no such folder');
  });
});
