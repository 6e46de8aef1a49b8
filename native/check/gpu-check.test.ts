import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
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

/** A PATH on which there are only the few programs that the script begins with, and `others`: shell scripts by name. */
function pathWith(name: string, others: Record<string, string>): string {
  const path = join(folder, name);
  mkdirSync(path);
  for (const program of ['sh', 'dirname', 'date', 'ls']) {
    symlinkSync(
      execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim(),
      join(path, program),
    );
  }
  for (const [other, text] of Object.entries(others))
    writeFileSync(join(path, other), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return path;
}

describe('gpu-check on a machine that lacks something', () => {
  it('says in one line that there is no nvcc, and exits 2', () => {
    const { status, stdout, stderr } = gpuCheck([], { PATH: pathWith('no-nvcc', {}) });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gpu-check: there is no nvcc on PATH, .*\n$/);
  });

  it.skipIf(existsSync('/proc/driver/nvidia/gpus'))('says in one line that there is no GPU, and exits 2', () => {
    const { status, stdout, stderr } = gpuCheck([], { PATH: pathWith('no-gpu', { nvcc: 'exit 0' }) });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^gpu-check: there is no NVIDIA GPU on this machine .*\n$/);
  });

  it.each([
    [
      9,
      'NVIDIA-SMI has failed because it could not communicate with the driver.',
      /^gpu-check: nvidia-smi does not find a GPU that works \(exit code 9: NVIDIA-SMI has failed because [^\n]*\n$/,
    ],
    [
      6,
      'No devices were found',
      /^gpu-check: nvidia-smi does not find a GPU that works \(exit code 6: No devices were found\)[^\n]*\n$/,
    ],
    [0, 'No devices found.', /^gpu-check: there is no NVIDIA GPU on this machine [^\n]*\n$/],
  ])('says in one line that nvidia-smi, which exits %i, finds no GPU', (code, says, line) => {
    const others = { nvcc: 'exit 0', 'nvidia-smi': `echo '${says}'\necho 'Make sure that it runs.'\nexit ${code}` };
    const { status, stdout, stderr } = gpuCheck([], { PATH: pathWith(`driver-${code}`, others) });
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(line);
  });

  it('refuses arguments that it does not know', () => {
    expect(gpuCheck(['--fast'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('unknown argument --fast'),
    });
  });
});

describe('the CUDA library of gpu-check', () => {
  /** A checkout with the kernels' sources, and an nvcc that writes its arguments into the library. */
  function checkout(name: string) {
    const at = join(folder, name);
    mkdirSync(join(at, 'check'), { recursive: true });
    mkdirSync(join(at, 'kernels', 'cuda'), { recursive: true });
    cpSync(join(import.meta.dirname, 'cuda-library.sh'), join(at, 'check', 'cuda-library.sh'));
    cpSync(join(root, 'native', 'kernels', 'cuda', 'build.sh'), join(at, 'kernels', 'cuda', 'build.sh'));
    for (const file of ['cuda/rows.cu', 'cuda/rows.cuh', 'math.h']) writeFileSync(join(at, 'kernels', file), file);
    const nvcc = join(at, 'nvcc');
    const write = 'while [ "$1" != -o ]; do shift; done; echo "compiled $*" > "$2"';
    writeFileSync(nvcc, `#!/bin/sh\n${write}\n`, { mode: 0o755 });
    const [own, built] = [join(at, 'own.so'), join(at, 'built by make.so')];
    const ask = () =>
      execFileSync('sh', [join(at, 'check', 'cuda-library.sh'), nvcc, own, built], {
        encoding: 'utf8',
        stdio: 'pipe',
      }).trim();
    const touch = (path: string, seconds: number) => utimesSync(path, seconds, seconds);
    const sources = ['cuda/rows.cu', 'cuda/rows.cuh', 'math.h', 'cuda/build.sh'].map((file) =>
      join(at, 'kernels', file),
    );
    for (const source of sources) touch(source, 1000);
    return { at, own, built, ask, touch, sources, nvcc };
  }

  it('is compiled once, and again when a source is newer', () => {
    const { ask, own, touch, sources } = checkout('compiled once');
    expect(ask()).toBe(own);
    expect(readFileSync(own, 'utf8')).toMatch(/^compiled -o .*rows\.cu\n$/);
    for (const source of sources) {
      writeFileSync(own, 'as it was');
      touch(own, 2000);
      expect([ask(), readFileSync(own, 'utf8')]).toEqual([own, 'as it was']);
      touch(source, 3000);
      expect([ask(), readFileSync(own, 'utf8')], source).toEqual([own, expect.stringMatching(/^compiled/)]);
      touch(source, 1000);
    }
  });

  it('is that of `make build` where that one is newer than the sources', () => {
    const { ask, own, built, touch } = checkout('built by make');
    writeFileSync(built, 'built');
    touch(built, 2000);
    expect([ask(), existsSync(own)]).toEqual([built, false]);
    touch(built, 500);
    expect(ask()).toBe(own);
  });

  it('is an error where it does not compile', () => {
    const { ask, own, nvcc } = checkout('does not compile');
    writeFileSync(nvcc, '#!/bin/sh\nexit 1\n');
    expect(ask).toThrow(/The CUDA kernels did not compile/);
    expect(existsSync(own)).toBe(false);
  });
});

it('leaves the name of the package `kernels` free, which transformers and so Liger look for', () => {
  const look = 'import dart, importlib.util as u; spec = u.find_spec("kernels"); print(spec and spec.origin)';
  const env = { ...process.env, PYTHONPATH: import.meta.dirname, PYTHONDONTWRITEBYTECODE: '1' };
  expect(execFileSync('python3', ['-c', look], { encoding: 'utf8', env })).not.toContain('dart_torch');
});

describe('gpu-check on emulated kernels', () => {
  const records = join(folder, 'records.ndjson');
  let run: ReturnType<typeof gpuCheck>;
  let names: string[];
  const written = (): { name: string; value: number; unit: string }[] =>
    readFileSync(records, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  beforeAll(() => {
    buildEmulatedCuda(join(root, 'native', 'build', 'libdart_cuda_emulated.so'));
    run = gpuCheck(['--rehearse', '--records', records]);
    names = written().map(({ name }) => name);
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

  it('times a training step of a Qwen2.5-VL beside one with an eager loss, or says that it is left out', () => {
    const python = process.env.DART_PYTHON || 'python3';
    const imports = 'import sys; sys.path.insert(0, "native/torch"); import dart_torch, transformers';
    if (spawnSync(python, ['-c', imports], { cwd: root, stdio: 'ignore' }).status !== 0) {
      expect(run.stderr).toMatch(/gpu-check: left out: one training step: .*\(DART_PYTHON names another Python\)\n/);
      return;
    }
    const steps = written().filter(({ name }) => name.startsWith('training step/tiny'));
    for (const step of [
      'training step/tiny, 48 tokens, 16 of replies, 2 screenshots',
      'training step/tiny, 64 tokens, 48 of replies, 0 screenshots',
    ]) {
      const own = steps.filter(({ name }) => name.startsWith(step));
      expect(own.map(({ name, unit }) => `${name.slice(step.length)} ${unit}`)).toEqual([
        ' ms',
        ': forward ms',
        ': head ms',
        ': backward ms',
        ': optimizer ms',
        ": loss from eager's of it",
        ": gradient norm from eager's of it",
      ]);
      const [whole, ...parts] = own.map(({ value }) => value);
      // Medians of parts need not add up to the median of the whole.
      expect(parts.slice(0, 4).every((part) => part > 0 && part < 100 * whole!)).toBe(true);
      expect(own[0]).toMatchObject({ against: 'eager loss', ratio: expect.any(Number) });
      // bf16 weights: the loss and its gradient agree to some units in the last place.
      expect(parts[4]).toBeLessThan(1e-4);
      expect(parts[5]).toBeLessThan(0.02);
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
