import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import { fileError } from './errno.ts';
import {
  makeFolder,
  makeFolderSync,
  makeWritableFolderSync,
  WholeFile,
  writeWhole,
  writeWholeStream,
} from './files.ts';
import { temporaryName } from './temporary.ts';
import { unprivileged } from './unprivileged.testing.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-files-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const text = (path: string) => readFileSync(path, 'utf8');

describe('writeWhole', () => {
  it('writes a file and the folders on the way, and leaves nothing else', async () => {
    await writeWhole(join(dir, 'a/b/out'), 'one');
    await writeWhole(join(dir, 'a/b/out'), new Uint8Array([50]));
    expect(text(join(dir, 'a/b/out'))).toBe('2');
    expect(readdirSync(join(dir, 'a/b'))).toEqual(['out']);
  });

  it('removes what a killed run has left, before it needs the disk itself', async () => {
    const dead = spawnSync('true').pid;
    const left = temporaryName(join(dir, 'out')).replace(`.${process.pid}.`, `.${dead}.`);
    writeFileSync(left, 'half');
    const file = await WholeFile.open(join(dir, 'out'));
    expect(existsSync(left)).toBe(false);
    await file.discard();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('keeps the old file when the parts end in an error', async () => {
    writeFileSync(join(dir, 'out'), 'old');
    async function* parts() {
      yield 'new';
      throw new Error('no more');
    }
    await expect(writeWholeStream(join(dir, 'out'), parts())).rejects.toThrow('no more');
    expect(text(join(dir, 'out'))).toBe('old');
    expect(readdirSync(dir)).toEqual(['out']);
  });

  it('writes through a symbolic link and keeps the mode', async () => {
    writeFileSync(join(dir, 'real'), 'old');
    chmodSync(join(dir, 'real'), 0o640);
    symlinkSync('real', join(dir, 'link'));
    await writeWhole(join(dir, 'link'), 'new');
    expect(text(join(dir, 'real'))).toBe('new');
    expect(statSync(join(dir, 'real')).mode & 0o777).toBe(0o640);
    expect(readdirSync(dir).sort()).toEqual(['link', 'real']);
  });

  it('says in words that the disk is full, and that a part of the path is a file', async () => {
    const full = (await writeWhole('/dev/full', 'x').catch((error) => error)) as DartError;
    expect(full.describe()).toMatch(/^\/dev\/full: cannot write: the disk is full/);
    writeFileSync(join(dir, 'file'), '');
    const under = (await writeWhole(join(dir, 'file/out'), 'x').catch((error) => error)) as DartError;
    expect(under.message).toBe('cannot write: a part of the path is a file, not a folder');
    expect(under.exitCode).toBe(2);
  });

  it('refuses a folder before anything is written', async () => {
    await expect(WholeFile.open(dir)).rejects.toMatchObject({ message: 'cannot write: it is a folder, not a file' });
    expect(readdirSync(dir)).toEqual([]);
  });

  it('writes to a device without replacing it', async () => {
    await writeWhole('/dev/null', 'x');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

describe('makeWritableFolderSync', () => {
  const refusalOf = (path: string) => {
    try {
      makeWritableFolderSync(path, 'publish');
      return null;
    } catch (error) {
      return (error as DartError).describe();
    }
  };

  it('makes a folder, or says what is in its way', () => {
    expect([refusalOf(join(dir, 'a/b')), statSync(join(dir, 'a/b')).isDirectory()]).toEqual([null, true]);
    writeFileSync(join(dir, 'file'), '');
    expect(refusalOf(join(dir, 'file'))).toBe(
      `${join(dir, 'file')}: cannot make the folder: there is a file of that name. Try: another folder`,
    );
  });

  it('refuses a folder that takes no new files', async () => {
    chmodSync(dir, 0o555);
    expect(await unprivileged(() => refusalOf(dir))).toBe(
      `${dir}: cannot publish: permission denied. Try: check who owns it and its mode (ls -l)`,
    );
    chmodSync(dir, 0o755);
    expect([refusalOf(dir), readdirSync(dir)]).toEqual([null, []]);
  });
});

describe('makeFolder', () => {
  const ways = Object.entries({ makeFolder, makeFolderSync: async (path: string) => makeFolderSync(path) });

  it.each(ways)('%s makes what is missing and is content with what is there', async (_, make) => {
    const path = join(dir, 'a/b/c');
    await Promise.all([make(path), make(join(dir, 'a/b/d')), make(path)]);
    await make(path);
    expect(readdirSync(join(dir, 'a/b'))).toEqual(['c', 'd']);
    symlinkSync(join(dir, 'a'), join(dir, 'link'));
    await make(join(dir, 'link/e'));
    expect(readdirSync(join(dir, 'a'))).toEqual(['b', 'e']);
  });

  it.each(ways)('%s says which part is a file', async (_, make) => {
    writeFileSync(join(dir, 'file'), '');
    const error = (await make(join(dir, 'file/a/b')).catch((thrown) => thrown)) as DartError;
    expect(error.describe()).toBe(
      `${join(dir, 'file')}: cannot make the folder: there is a file of that name. Try: another folder`,
    );
  });

  it.skipIf(!existsSync('/proc/self')).each(ways)('%s ends where no new folders can be', async (_, make) => {
    const error = (await make('/proc/nowhere/at/all').catch((thrown) => thrown)) as DartError;
    expect([error.where, error.message]).toEqual([
      '/proc/nowhere',
      'cannot make the folder: there can be no new folders in /proc',
    ]);
  });
});

describe('fileError', () => {
  it('says in words what the system says in codes, and leaves bugs alone', () => {
    const readOnly = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
    expect((fileError(readOnly, 'write', 'runs/out') as DartError).describe()).toBe(
      'runs/out: cannot write: the file system is read-only. Try: another folder',
    );
    const bug = new TypeError('x is not a function');
    expect(fileError(bug, 'write', 'runs/out')).toBe(bug);
  });
});
