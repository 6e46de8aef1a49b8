import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildEmulatedCuda } from './library.testing.ts';

const script = join(import.meta.dirname, 'gpu-check.sh');
const root = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'dart-gpu-'));
afterAll(() => rmSync(folder, { recursive: true }));

function gpuCheck(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync('/bin/sh', [script, ...args], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

/** A PATH on which there are only the few programs that the script begins with, and `others`. */
function pathWith(name: string, others: string[]): string {
  const path = join(folder, name);
  mkdirSync(path);
  for (const program of ['sh', 'dirname', 'date', 'ls']) {
    symlinkSync(
      execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim(),
      join(path, program),
    );
  }
  for (const other of others) writeFileSync(join(path, other), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  return path;
}

describe('gpu-check on a machine that lacks something', () => {
  it('says in one line that there is no nvcc, and exits 2', () => {
    const { status, stdout, stderr } = gpuCheck([], { PATH: pathWith('no-nvcc', []) });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gpu-check: there is no nvcc on PATH, .*\n$/);
  });

  it.skipIf(existsSync('/proc/driver/nvidia/gpus'))('says in one line that there is no GPU, and exits 2', () => {
    const { status, stdout, stderr } = gpuCheck([], { PATH: pathWith('no-gpu', ['nvcc']) });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gpu-check: there is no NVIDIA GPU on this machine .*\n$/);
  });

  it('refuses arguments that it does not know', () => {
    expect(gpuCheck(['--fast'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('unknown argument --fast'),
    });
  });
});

describe('gpu-check on emulated kernels', () => {
  const records = join(folder, 'records.ndjson');
  let run: ReturnType<typeof gpuCheck>;
  let names: string[];

  beforeAll(() => {
    buildEmulatedCuda(join(root, 'native', 'build', 'libdart_cuda_emulated.so'));
    run = gpuCheck(['--rehearse', '--records', records]);
    names = readFileSync(records, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name);
  }, 600_000);

  it('checks the kernels and ends well', () => {
    expect(run.stderr).toMatch(/gpu-check: \d+ s: done; records in /);
    expect(run.stdout).toMatch(/^emulated GPU.*\nseed \d+\n.*\n\d+ OK, 0 NOT OK\n/);
    expect(run.status).toBe(0);
  });

  it('prints one table with ms, GB/s, share of copy bandwidth and ratio', () => {
    expect(run.stdout).toMatch(/\nmeasured +ms +GB\/s +of copy +ratio\n/);
    for (const row of ['policy_loss/N 8 V 1024 bf16, dart', 'policy_loss/N 4 V 1031 f32, gspo', 'adamw/P 4096 f32']) {
      const line = run.stdout.split('\n').find((text) => text.startsWith(`${row}  `));
      expect(line, row).toMatch(/\d+\.\d{3} +\d+\.\d{3} +\d+\.\d{3}$/);
    }
  });

  it('runs one update of dart-train on both devices and compares loss, gradient and weights', () => {
    const compared = names.filter((name) => name.startsWith('dart-train update'));
    expect(compared.map((name) => name.split(': ')[1])).toEqual(['loss', 'gradient', 'weights']);
  });

  it('measures beside PyTorch, or says that it is left out', () => {
    const python = process.env.DART_PYTHON || 'python3';
    if (spawnSync(python, ['-c', 'import torch'], { stdio: 'ignore' }).status === 0) {
      expect(names).toContain('policy_loss/N 8 V 1024 bf16, dart, beside PyTorch');
    } else {
      expect(run.stderr).toContain('gpu-check: left out: eager PyTorch and Liger: this Python has no torch');
    }
  });

  it('does not take another loss or other weights for the same update', () => {
    const update = join(root, 'native', 'build', 'gpu-check--rehearse', 'update');
    const copy = join(folder, 'update');
    const compare = () =>
      spawnSync('node', [join(root, 'dist', 'commands', 'bench', 'compare_updates.js'), copy], { encoding: 'utf8' });
    cpSync(update, copy, { recursive: true });
    expect(compare().status).toBe(0);
    const lines = readFileSync(join(copy, 'gpu.ndjson'), 'utf8');
    writeFileSync(join(copy, 'gpu.ndjson'), lines.replace(/("train\/loss","value":)/, '$11'));
    expect(compare()).toMatchObject({ status: 1, stderr: expect.stringMatching(/^compare_updates: loss NOT OK/) });
    writeFileSync(join(copy, 'gpu.ndjson'), lines);
    const [before, after] = ['000000', '000001'].map((n) => join(copy, 'gpu', 'versions', n, 'weights.safetensors'));
    cpSync(before!, after!);
    expect(compare()).toMatchObject({ status: 1, stderr: 'compare_updates: weights NOT OK: 1\n' });
  });
});
