import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  listVersions,
  pointLatest,
  pruneVersions,
  readVersionFile,
  versionFolder,
  writeVersion,
  writeVersionFile,
} from './versions.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'versions-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const write = (version: number, text = 'w') =>
  writeVersion(dir, version, 'run', (folder) => writeVersionFile(folder, 'weights.safetensors', text));

describe('versions', () => {
  it('is a folder of files with a manifest, and latest.json points to it', async () => {
    expect(await write(12, 'hello')).toBe(join(dir, 'versions', '000012'));
    await pointLatest(dir, 12);
    const manifest = JSON.parse(readFileSync(join(dir, 'versions/000012/manifest.json'), 'utf8'));
    const sha256 = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'; // of "hello"
    expect(manifest).toEqual({ version: 12, run_id: 'run', files: { 'weights.safetensors': { bytes: 5, sha256 } } });
    expect(JSON.parse(readFileSync(join(dir, 'latest.json'), 'utf8'))).toEqual({
      version: 12,
      path: 'versions/000012',
    });
    expect(Buffer.from(readVersionFile(versionFolder(dir, 12), 'weights.safetensors')).toString()).toBe('hello');
  });

  it('does not count what a killed trainer leaves: a hidden folder, one without manifest, a file cut short', async () => {
    await write(1);
    mkdirSync(join(dir, 'versions/.000002.99.tmp'));
    mkdirSync(join(dir, 'versions/000003'));
    writeFileSync(join(dir, 'versions/000003/weights.safetensors'), 'half');
    await write(4, 'whole');
    truncateSync(join(versionFolder(dir, 4), 'weights.safetensors'), 2);
    expect(listVersions(dir)).toEqual([1]);
  });

  it('replaces an unknown version of that number and sweeps leftovers', async () => {
    mkdirSync(join(dir, 'versions/.000002.99.tmp'), { recursive: true });
    mkdirSync(join(dir, 'versions/000003'));
    await write(3, 'new');
    await pruneVersions(dir, 5, []);
    expect(listVersions(dir)).toEqual([3]);
    expect(existsSync(join(dir, 'versions/.000002.99.tmp'))).toBe(false);
  });

  it('prunes the oldest, never the spared', async () => {
    for (const version of [1, 2, 3, 4, 5]) await write(version);
    await pruneVersions(dir, 2, [2]);
    expect(listVersions(dir)).toEqual([2, 4, 5]);
  });

  it('notices bytes that have changed', async () => {
    await write(1, 'abc');
    writeFileSync(join(versionFolder(dir, 1), 'weights.safetensors'), 'abd');
    expect(() => readVersionFile(versionFolder(dir, 1), 'weights.safetensors')).toThrow('sha256 differs');
  });

  it('says so and leaves nothing when it cannot write', async () => {
    await write(1);
    writeFileSync(join(dir, 'file'), '');
    await expect(writeVersion(join(dir, 'file'), 2, 'run', async () => {})).rejects.toThrow(/cannot publish/);
    if (process.getuid?.() === 0) return; // root may write anywhere
    chmodSync(join(dir, 'versions'), 0o500);
    await expect(write(2)).rejects.toThrow(/permission denied/);
    chmodSync(join(dir, 'versions'), 0o700);
    expect(listVersions(dir)).toEqual([1]);
  });
});
