import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { EXIT } from '../../lib/errors.ts';
import { LOCK_FILE, lockRuns } from './lock.ts';

const dir = mkdtempSync(join(tmpdir(), 'dart-runs-'));
afterAll(() => rmSync(dir, { recursive: true }));

describe('the lock of a folder of runs', () => {
  it('lets one program in at a time, and says who is there', () => {
    const folder = join(dir, 'shared');
    const unlock = lockRuns(folder, 'make ablation');
    expect(() => lockRuns(folder, 'make arpo')).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/another run holds the lock: process \d+ on .*, make ablation/),
        where: folder,
        hint: 'wait for it, or RUN_DIR=… for another folder',
        exitCode: EXIT.locked,
      }),
    );
    expect(EXIT.locked).toBe(75);
    unlock();
    lockRuns(folder, 'make arpo')();
  });

  it('is free where its holder is dead', async () => {
    const folder = join(dir, 'killed');
    lockRuns(folder, 'make ablation')();
    const addon = join(packageRoot(), 'native/build/Release/dart_native.node');
    const holding = `
      const fd = require('node:fs').openSync(process.argv[1], 'a+');
      const held = require(${JSON.stringify(addon)}).flock({ fd, nonblocking: true });
      process.stdout.write(String(held));
      setInterval(() => {}, 1e6);`;
    const holder = spawn(process.execPath, ['-e', holding, join(folder, LOCK_FILE)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => holder.once('close', resolve));
    const said = new Promise((resolve) => holder.stdout.once('data', resolve));
    expect(String(await Promise.race([said, ended]))).toBe('true');
    expect(() => lockRuns(folder, 'make ablation')).toThrow('another run holds the lock');
    holder.kill('SIGKILL');
    await ended;
    lockRuns(folder, 'make ablation')();
    expect(readFileSync(join(folder, LOCK_FILE), 'utf8')).toBe('');
  });

  it('says where a folder cannot be', () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    expect(() => lockRuns(join(file, 'runs'), 'make ablation')).toThrow(/cannot make the folder/);
  });
});
