import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { compile } from '../../lib/store/compiled.testing.ts';
import { greyScreen, lines, makeGroup } from './fixture.testing.ts';
import { spec } from './spec.ts';

const ROOT = packageRoot();
let cwd = '';
let compiled = '';
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-loop-'));
  compiled = await compile('commands/eval/main.ts');
  for (const name of ['binding.gyp', 'build']) symlinkSync(join(ROOT, 'native', name), join(compiled, 'native', name));
  const program = join(cwd, 'bin/dart-eval');
  mkdirSync(join(cwd, 'bin'));
  writeFileSync(program, `#!/bin/sh\nexec node ${join(compiled, 'commands/eval/main.js')} "$@"\n`);
  chmodSync(program, 0o755);
  symlinkSync(join(ROOT, 'fixtures'), join(cwd, 'fixtures'));
});
afterAll(() => {
  for (const folder of [cwd, compiled]) rmSync(folder, { recursive: true, force: true });
});

/** The loop of docs/training.md, in haste: each version, six tasks, once. */
function loop(): string {
  const text = readFileSync(join(ROOT, 'docs/training.md'), 'utf8');
  const script = /^ {4}measured=[\s\S]*?^ {4}done$/m.exec(text)![0].replace(/^ {4}/gm, '');
  const hasty: [from: string, to: string][] = [
    ['measured=-10', 'measured=-1'],
    ['+ 10', '+ 1'],
    ['sleep 30', 'sleep 0.2'],
    ['fixtures/tasks/heldout', 'fixtures/tasks/embedded --domain vlc'],
    ['--repeats 4', '--repeats 1'],
  ];
  return hasty.reduce((changed, [from, to]) => {
    expect(changed).toContain(from);
    return changed.replace(from, to);
  }, script);
}

it('the documented loop measures versions while the trainer goes on, and brings back the best', async () => {
  const screenshot = greyScreen(join(cwd, 'blobs'));
  const stdin = new PassThrough();
  const io = testIo({ cwd, stdin });
  const policy = `onnx:${join(ROOT, 'fixtures/policies/base.onnx')}`;
  const ended = runCommand(
    spec,
    [
      ...[
        '--publish',
        'runs/policy',
        '--policy',
        policy,
        '--blobs',
        'blobs',
        '--preset',
        'grpo',
        '--lr',
        '1',
        '--quiet',
      ],
      ...['--batch-samples', '3', '--evaluations', 'runs/evaluations.ndjson', '--rollback-drop', '0.2'],
    ],
    io,
  );
  const until = (test: (record: Record<string, unknown>) => boolean) =>
    vi.waitFor(() => expect(io.records().some(test), io.err()).toBe(true), { timeout: 60_000 });
  await vi.waitFor(() => expect(existsSync(join(cwd, 'runs/policy/latest.json'))).toBe(true), { timeout: 60_000 });
  const env = { PATH: `${join(cwd, 'bin')}:${process.env.PATH}` };
  const measuring = execa('bash', ['-c', loop()], { cwd, env, reject: false, detached: true });
  try {
    await until((r) => r.event === 'evaluated' && r.version === 0);
    stdin.write(lines(makeGroup('a', screenshot)));
    await until((r) => r.event === 'rolled_back');
    await until((r) => r.event === 'evaluated' && r.version === 2);
  } finally {
    // The loop and what it started.
    process.kill(-measuring.pid!, 'SIGTERM');
    await measuring;
    stdin.end();
    await ended;
  }
  const evaluated = io.records().filter((r) => r.event === 'evaluated');
  expect(evaluated.map(({ version, score, best_version }) => [version, score, best_version])).toEqual([
    [0, 0.5, 0],
    [1, expect.any(Number), 0],
    [2, expect.any(Number), 0],
  ]);
  expect(io.records().filter((r) => r.event === 'rolled_back')).toMatchObject([{ from: 1, to: 0, version: 2 }]);
}, 240_000);
