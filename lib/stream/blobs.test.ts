import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlobStore } from './blobs.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-blobs-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const png = new Uint8Array([137, 80, 78, 71]);
const sha256 = createHash('sha256').update(png).digest('hex');
const place = () => join(dir, sha256.slice(0, 2), `${sha256.slice(2)}.png`);

describe.each(['put', 'putSync'] as const)('BlobStore.%s', (put) => {
  it('keeps bytes under the hash of them, once', async () => {
    const store = new BlobStore(dir);
    expect(await store[put](png)).toBe(sha256);
    expect(await store[put](png)).toBe(sha256);
    expect(new Uint8Array(readFileSync(place()))).toEqual(png);
    expect(readdirSync(join(dir, sha256.slice(0, 2)))).toHaveLength(1);
    expect(store.has(sha256)).toBe(true);
    expect(new Uint8Array(await store.read(sha256))).toEqual(png);
  });

  it('mends a file that was cut short', async () => {
    await new BlobStore(dir)[put](png);
    writeFileSync(place(), '');
    await new BlobStore(dir)[put](png);
    expect(new Uint8Array(readFileSync(place()))).toEqual(png);
  });

  it('says what is wrong with the folder', async () => {
    const file = join(dir, 'file');
    writeFileSync(file, '');
    const failing = async () => new BlobStore(file)[put](png);
    await expect(failing()).rejects.toMatchObject({ name: 'DartError', where: file });
  });
});

describe('BlobStore', () => {
  it('tells missing from damaged', async () => {
    const store = new BlobStore(dir);
    await expect(store.read(sha256)).rejects.toThrow('no such screenshot');
    store.putSync(png);
    writeFileSync(place(), 'evil');
    expect(() => store.readSync(sha256)).toThrow('damaged');
  });

  it('refuses what is not a hash, so that no record leads out of the folder', () => {
    const store = new BlobStore(dir);
    expect(() => store.readSync('../../etc/passwd')).toThrow('is not a sha256');
    expect(existsSync(join(dir, '..', 'etc'))).toBe(false);
  });
});
