import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../lib/store/compiled.testing.ts';
import { greyScreen, groupLines } from './fixture.testing.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
let cwd = '';
let compiled = '';

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-kill-'));
  compiled = await compile('commands/train/main.ts');
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

const train = (folder: string) =>
  start(
    ...['samples.ndjson', '--publish', folder, '--run-id', 'r', '--policy', 'onnx:init.onnx', '--blobs', 'blobs'],
    ...['--preset', 'grpo', '--batch-samples', '6', '--quiet'],
  );

describe('a trainer that is killed', () => {
  it('goes on from its newest version and ends at the same bytes', async () => {
    expect((await train('whole')).exitCode).toBe(0);
    const victim = train('killed');
    victim.stdout.on('data', (chunk) => {
      if (String(chunk).includes('"version":2')) victim.kill('SIGKILL');
    });
    expect((await victim).signal).toBe('SIGKILL');
    expect((await train('killed')).exitCode).toBe(0);
    for (const name of ['weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json']) {
      const [whole, killed] = ['whole', 'killed'].map((folder) =>
        readFileSync(join(cwd, folder, 'versions/000006', name)),
      );
      expect(killed!.equals(whole!)).toBe(true);
    }
  });
});
