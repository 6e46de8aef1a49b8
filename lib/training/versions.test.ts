import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unprivileged } from '../stream/unprivileged.testing.ts';
import {
  damageOf,
  listVersions,
  pointLatest,
  pruneStates,
  pruneVersions,
  readManifest,
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

  it('takes links for files, which it does not read, and misses what they point to', async () => {
    const base = join(dir, 'base.safetensors');
    writeFileSync(base, 'weights');
    const folder = await writeVersion(dir, 0, 'run', async (at) => symlinkSync(base, join(at, 'model.safetensors')));
    expect(readManifest(folder)?.files).toEqual({ 'model.safetensors': { bytes: 7, link: base } });
    expect(listVersions(dir)).toEqual([0]);
    rmSync(base);
    expect(damageOf(folder, 0)).toBe('model.safetensors is missing');
  });

  it('takes the state from old versions, which stay whole, also when it was killed on the way', async () => {
    for (const version of [1, 2, 3, 4]) {
      await writeVersion(dir, version, 'run', async (at) => {
        await writeVersionFile(at, 'weights.safetensors', 'w');
        mkdirSync(join(at, 'state'));
        await writeVersionFile(join(at, 'state'), 'moments', 'm');
      });
    }
    expect(readManifest(versionFolder(dir, 4))!.files['state/moments']).toEqual({ bytes: 1 });
    // The manifest of version 1 was rewritten, and then nothing more.
    const path = join(versionFolder(dir, 1), 'manifest.json');
    const manifest = readManifest(versionFolder(dir, 1))!;
    delete manifest.files['state/moments'];
    writeFileSync(path, JSON.stringify(manifest));
    await pruneStates(dir, 1, [2]);
    expect(listVersions(dir)).toEqual([1, 2, 3, 4]);
    const left = [1, 2, 3, 4].map((version) => existsSync(join(versionFolder(dir, version), 'state')));
    expect(left).toEqual([false, true, false, true]);
    expect(Object.keys(readManifest(versionFolder(dir, 3))!.files)).toEqual(['weights.safetensors']);
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
    chmodSync(dir, 0o755);
    chmodSync(join(dir, 'versions'), 0o555);
    await unprivileged(() => expect(write(2)).rejects.toThrow(/permission denied/));
    chmodSync(join(dir, 'versions'), 0o755);
    expect(listVersions(dir)).toEqual([1]);
  });
});
