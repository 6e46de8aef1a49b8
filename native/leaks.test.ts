import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orSkip } from '../lib/stream/shared.testing.ts';

/**
 * A thousand calls of every exported function under LeakSanitizer: the addon is compiled for it into a copy of the toolkit
 * in a temporary folder, and Node runs with the sanitizer's library before all others. Only leaks with the addon in their
 * stack count: V8 may leave behind what it likes.
 */
const root = join(import.meta.dirname, '..');
const compiler = process.env.CXX ?? 'g++';
const sources = join(root, 'native', 'src');
const kernels = join(root, 'native', 'build', 'Release', 'dart_cpu_kernels.a');
const program = join(import.meta.dirname, 'leaks.testing.mjs');

function findRuntime(): string | null {
  const { stdout } = spawnSync(compiler, ['-print-file-name=libasan.so'], { encoding: 'utf8' });
  const path = stdout?.trim() ?? '';
  return path.startsWith('/') && existsSync(path) ? path : null;
}
const runtime = orSkip('libasan', findRuntime(), `${compiler} has no libasan.so`);

/** Runs to the end; throws what it said where it failed. */
async function runProgram(command: string, args: string[]): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  const code = await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  if (code !== 0) throw new Error(`${basename(command)} ${args.join(' ')}: ${said}`);
}

/** Where node-gyp found Node's headers. */
function nodeHeaders(): string {
  const config = readFileSync(join(root, 'native', 'build', 'config.gypi'), 'utf8').replace(/^#.*$/gm, '');
  return join(JSON.parse(config).variables.nodedir, 'include', 'node');
}

/** The addon's sources with AddressSanitizer and a function that leaks, and the kernels as they are. */
async function buildAddon(folder: string): Promise<void> {
  const headers = [dirname(createRequire(import.meta.url).resolve('node-addon-api')), nodeHeaders()];
  const flags = ['-std=c++20', '-O0', '-g1', '-fPIC', '-fno-omit-frame-pointer', '-fsanitize=address'];
  const defines = ['NAPI_VERSION=9', 'NODE_ADDON_API_DISABLE_DEPRECATED', 'DART_LEAK_TEST'].map((name) => `-D${name}`);
  const names = readdirSync(sources).filter((name) => name.endsWith('.cc'));
  const objects = names.map((name) => join(folder, `${name}.o`));
  const compile = (name: string, i: number) =>
    runProgram(compiler, [
      ...flags,
      ...defines,
      ...headers.map((path) => `-I${path}`),
      '-c',
      join(sources, name),
      '-o',
      objects[i]!,
    ]);
  await Promise.all(names.map(compile));
  const target = join(folder, 'dart_native.node');
  await runProgram(compiler, ['-shared', '-fsanitize=address', ...objects, kernels, '-lpthread', '-ldl', '-o', target]);
}

/** V8 may collect garbage in the middle of a call, and keeps what it allocates for that. */
const COLLECTING = /v8::internal::\w*(Heap|GC|Garbage|Collect|Mark|Sweep|Scavenge|Evacuat|Worklist)/;

/** The reports of leaks that have the addon in their stack, and no garbage collection between it and the allocation. */
function ownLeaks(report: string): string[] {
  return report
    .split('\n\n')
    .filter((part) => /^(Direct|Indirect) leak/m.test(part) && part.includes('dart_native.node'))
    .filter((part) => !COLLECTING.test(part.slice(0, part.indexOf('dart_native.node'))));
}

describe.skipIf(runtime === null)('the addon under LeakSanitizer', () => {
  let copy: string;
  let result: { status: number | null; stdout: string; stderr: string };
  /** A report that the program left; empty where there was nothing to report. */
  const report = (name: string) => {
    const file = readdirSync(copy).find((one) => one.startsWith(`${name}.`));
    return file === undefined ? '' : readFileSync(join(copy, file), 'utf8');
  };

  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), 'dart-leaks-'));
    const built = join(copy, 'native', 'build', 'Release');
    mkdirSync(built, { recursive: true });
    writeFileSync(join(copy, 'native', 'binding.gyp'), '{}');
    writeFileSync(join(copy, 'package.json'), '{ "type": "module" }');
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    const compileFace = runProgram(tsc, ['-p', join(root, 'tsconfig.build.json'), '--outDir', copy]).catch(() => {
      // Errors of types are another test's business; the files are written all the same.
      if (!existsSync(join(copy, 'native', 'index.js'))) throw new Error('tsc wrote no native/index.js');
    });
    await Promise.all([compileFace, buildAddon(built)]);
    // Each frame with its module: that is what says whose leak it is.
    const frames = 'fast_unwind_on_malloc=0:stack_trace_format="    #%n %f %S %m"';
    const options = `detect_leaks=1:leak_check_at_exit=0:${frames}`;
    const env = { ...process.env, LD_PRELOAD: runtime!, ASAN_OPTIONS: options };
    result = spawnSync(process.execPath, ['--expose-gc', program, copy], { encoding: 'utf8', env });
  }, 240_000);
  afterAll(() => rmSync(copy, { recursive: true }));

  it('calls every function a thousand times, and fails as often as the inputs are bad', () => {
    expect(result).toMatchObject({ status: 0, stderr: '' });
    const { functions, calls, errors } = JSON.parse(result.stdout);
    expect(calls).toBe(1000 * functions);
    expect(errors).toBeGreaterThan(functions * 100);
  });

  it('leaks nothing', () => {
    expect(ownLeaks(report('before'))).toEqual([]);
  });

  it('would be seen to leak: 77 bytes lost a thousand times', () => {
    const seen = ownLeaks(report('after'));
    expect(seen).toHaveLength(1);
    expect(seen[0]).toContain('Direct leak of 77000 byte(s) in 1000 object(s)');
    expect(seen[0]).toMatch(/ leak .*module\.cc:\d+/);
  });
});
