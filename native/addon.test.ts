import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { load, packageRoot } from './addon.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dart-addon-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the addon', () => {
  it('that is not built: one error that says where and what to do', () => {
    expect(() => load(folder)).toThrow('The native addon could not be loaded (no such file)');
    try {
      load(folder);
    } catch (error) {
      expect(error).toMatchObject({
        where: join(folder, 'dart_native.node'),
        hint: expect.stringMatching(/^npm run install/),
      });
    }
  });

  it('that is no library: the loader says why', () => {
    writeFileSync(join(folder, 'dart_native.node'), 'not a library');
    expect(() => load(folder)).toThrow(/could not be loaded \(.+\)/);
  });

  it('is looked for beside package.json, from any folder below', () => {
    const root = join(import.meta.dirname, '..');
    expect(packageRoot(import.meta.dirname)).toBe(root);
    expect(packageRoot(join(root, 'dist', 'native'))).toBe(root);
    expect(() => packageRoot(folder)).toThrow('binding.gyp is not in a folder above');
  });

  it('loads again and again in worker threads', async () => {
    const path = join(import.meta.dirname, 'build', 'Release', 'dart_native.node');
    const code = `require('worker_threads').parentPort.postMessage(require(${JSON.stringify(path)}).cpuStatus())`;
    for (let i = 0; i < 3; i++) {
      const worker = new Worker(code, { eval: true });
      expect(await new Promise((resolve) => worker.once('message', resolve))).toMatch(/^CPU/);
      expect(await worker.terminate()).toBeGreaterThanOrEqual(0);
    }
  });
});
