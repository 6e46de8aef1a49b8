import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../lib/cli/io.testing.ts';
import { runCommand } from '../lib/cli/run.ts';
import type { CommandSpec } from '../lib/cli/spec.ts';
import { trajectory } from '../lib/store/trajectories.testing.ts';
import { spec as curate } from './curate/spec.ts';
import { spec as rollout } from './rollout/spec.ts';
import { spec as train } from './train/spec.ts';

/** Commands that read screenshots say that the folder is not there; none takes it for screenshots that were lost. */
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-blobs-'));
  writeFileSync(join(cwd, 'in.ndjson'), members);
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const members = [0, 1]
  .map((index) => `${JSON.stringify(trajectory({ id: `m${index}`, index, reward: index, steps: 1 }))}\n`)
  .join('');

async function run(spec: CommandSpec, args: string[], env: Record<string, string> = {}, input?: string) {
  const io = testIo({ cwd, env: { HOME: cwd, XDG_CONFIG_HOME: '/nonexistent', ...env }, stdin: input });
  const code = await runCommand(spec, args, io);
  return { code, out: io.out(), err: io.err() };
}

const STORE = ['--store', 'sqlite:dart.db'];
const readers: [string, CommandSpec, string[]][] = [
  ['dart-curate', curate, ['in.ndjson', '--cursor', 'c']],
  ['dart-curate --from-store', curate, ['--from-store', ...STORE]],
  ['dart-curate --dry-run', curate, ['in.ndjson', '--dry-run']],
  ['pool add', curate, ['pool', 'add', 'in.ndjson', ...STORE]],
  ['demos', curate, ['demos', 'in.ndjson']],
  ['pairs', curate, ['pairs', '--for', 'dpo', 'in.ndjson']],
  ['show', rollout, ['show', 'in.ndjson', '--html', 'page.html']],
  ['dart-train', train, ['in.ndjson', '--policy', 'onnx:p.onnx', '--publish', 'v', '--device', 'cpu']],
];

describe('a --blobs folder that is not there', () => {
  it.each(readers)('ends %s with 2 before anything is read', async (_name, spec, args) => {
    const { code, out, err } = await run(spec, [...args, '--blobs', 'blbs']);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`--blobs: there is no folder blbs. Try: the --blobs folder`);
    const made = ['.local', 'dart.db', 'page.html'].filter((name) => existsSync(join(cwd, name)));
    expect(
      made.filter((name) => name !== '.local' || existsSync(join(cwd, '.local/state/dart/cursors/c.ndjson'))),
    ).toEqual([]);
  });

  it('is told of DART_BLOBS and of a file, too', async () => {
    expect((await run(curate, ['in.ndjson'], { DART_BLOBS: 'blbs' })).code).toBe(2);
    expect((await run(curate, ['in.ndjson', '--blobs', 'in.ndjson'])).err).toContain('in.ndjson is not a folder');
  });

  it('may come with the first record of a pipe, not later', async () => {
    const { code, err } = await run(curate, ['--blobs', 'blbs'], {}, members);
    expect([code, err]).toEqual([2, expect.stringContaining('there is no folder blbs')]);
    const nothing = await run(curate, ['--blobs', 'blbs'], {}, '');
    expect(nothing.code).toBe(1);
  });

  it('is no trouble where it is there; that all screenshots are missing is a warning, also with --quiet', async () => {
    mkdirSync(join(cwd, 'blobs'));
    const { code, err } = await run(curate, ['in.ndjson', '--blobs', 'blobs', '--quiet']);
    expect(code).toBe(1);
    expect(err).toBe(
      'dart-curate: warning: all 2 trajectories were left out: their screenshots are not in blobs. Try: the --blobs folder that the rollouts wrote to\n',
    );
    for (const [command, more] of [
      ['demos', []],
      ['pairs', ['--for', 'dpo']],
    ] as const) {
      const said = await run(curate, [command, ...more, 'in.ndjson', '--blobs', 'blobs', '--quiet']);
      expect(said.err).toContain('all 2 trajectories were left out');
    }
  });
});
