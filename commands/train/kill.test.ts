import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../lib/store/compiled.testing.ts';
import { openStore } from '../../lib/store/index.ts';
import { listVersions } from '../../lib/training/versions.ts';
import { greyScreen, groupLines } from './fixture.testing.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
let cwd = '';
let compiled = '';

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-kill-'));
  compiled = await compile('commands/train/main.ts', 'commands/train/kill_at.testing.ts');
  // The addon is looked for beside its build file.
  for (const name of ['binding.gyp', 'build']) symlinkSync(join(ROOT, 'native', name), join(compiled, 'native', name));
  writeFileSync(join(cwd, 'samples.ndjson'), groupLines(12, greyScreen(join(cwd, 'blobs'))));
  await start('init', '-o', 'init.onnx', '--reading-steps', '2');
});
afterAll(() => {
  for (const folder of [cwd, compiled]) rmSync(folder, { recursive: true, force: true });
});

function start(...args: string[]) {
  return execa('node', [join(compiled, 'commands/train/main.js'), ...args], { cwd, reject: false });
}

const options = (folder: string, ...more: string[]) => [
  ...['samples.ndjson', '--publish', folder, '--run-id', 'r', '--policy', 'onnx:init.onnx', '--blobs', 'blobs'],
  ...['--preset', 'grpo', '--batch-samples', '6', '--quiet', ...more],
];
const train = (folder: string) => start(...options(folder));

const inTurn = (...names: string[]) => names.flatMap((name) => [`before ${name}`, `halfway through ${name}`]);
const files = inTurn('weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json');
const version = [...files, 'before the rename of the version', 'before the flush of versions'];
const latest = [...inTurn('latest.json'), 'before the rename of latest.json'];
/** Moments of one run after the other, in one folder, and which time of each: each run goes on from what is left. */
const MOMENTS: [moment: string, time: number][] = [
  // The start: the policy's file, version 0, and latest.json, which a restart puts right.
  ...[...inTurn('policy.onnx'), 'before the rename of policy.onnx', ...version, ...latest].map(
    (moment): [string, number] => [moment, 1],
  ),
  // An update: its version, the store, and latest.json after it (the restart points to the old version first).
  ['halfway through weights.safetensors', 1],
  ['before manifest.json', 1],
  ['before the rename of the version', 1],
  ['before the flush of versions', 1],
  ...latest.map((moment): [string, number] => [moment, 2]),
  // What may be in the place of the next version, and the version that becomes too old with it.
  ['before the removal of the version', 1],
  ['before the removal of the version', 2],
];

describe('a trainer that is killed', () => {
  it('goes on from its newest version and ends at the same bytes', async () => {
    expect((await train('whole')).exitCode).toBe(0);
    const victim = train('killed');
    victim.stdout.on('data', (chunk) => {
      if (String(chunk).includes('"version":2')) victim.kill('SIGKILL');
    });
    expect((await victim).signal).toBe('SIGKILL');
    expect((await train('killed')).exitCode).toBe(0);
    expectAlike('whole', 'killed', 6);
  });

  it('does so at whichever moment of its writing', async () => {
    const more = (folder: string) => ['--max-updates', '5', '--keep-versions', '2', '--store', `sqlite:${folder}.db`];
    expect((await start(...options('calm', ...more('calm')))).exitCode).toBe(0);
    const killer = ['--import', join(compiled, 'commands/train/kill_at.testing.js')];
    for (const [moment, time] of MOMENTS) {
      const args = [join(compiled, 'commands/train/main.js'), ...options('poor', ...more('poor'))];
      const env = { DART_KILL_AT: moment, DART_KILL_TIME: String(time), DART_KILL_FOLDER: join(cwd, 'poor') };
      const { signal } = await execa('node', [...killer, ...args], { cwd, env, reject: false });
      expect([moment, time, signal]).toEqual([moment, time, 'SIGKILL']);
      // Whoever looks at the folder now finds a whole version, or none yet.
      const latest = join(cwd, 'poor/latest.json');
      const whole = listVersions(join(cwd, 'poor'));
      if (existsSync(latest)) expect(whole).toContain(JSON.parse(readFileSync(latest, 'utf8')).version);
    }
    expect(listVersions(join(cwd, 'poor')).at(-1)).toBe(4);
    expect((await start(...options('poor', ...more('poor')))).exitCode).toBe(0);
    expectAlike('calm', 'poor', 5);
    expect(await learnedIn('poor')).toEqual(await learnedIn('calm'));
    expect(listVersions(join(cwd, 'poor'))).toEqual([4, 5]);
  }, 600_000);
});

function expectAlike(one: string, other: string, version: number): void {
  for (const name of ['weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json']) {
    const [whole, killed] = [one, other].map((folder) =>
      readFileSync(join(cwd, folder, `versions/00000${version}`, name)),
    );
    expect(killed!.equals(whole!)).toBe(true);
  }
}

/** Each group that the store knows, with the version that learned it. */
async function learnedIn(name: string) {
  const store = await openStore(`sqlite:${join(cwd, name)}.db`);
  const columns = ['group_id', 'reason', 'learned_version'] as const;
  const groups = await store.db.selectFrom('training_group').select(columns).orderBy('group_id').execute();
  await store.close();
  return groups;
}
