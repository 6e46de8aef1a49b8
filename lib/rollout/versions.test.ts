import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type AvailableVersion, followVersions, PublishedDirectory } from './versions.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-versions-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('PublishedDirectory', () => {
  it('has nothing until something is announced; paths are relative to it', async () => {
    const source = new PublishedDirectory(folder);
    expect(await source.latest()).toBeNull();
    writeFileSync(join(folder, 'latest.json'), '{"version":12,"path":"versions/000012"}');
    expect(await source.latest()).toEqual({ version: 12, path: join(folder, 'versions/000012') });
    writeFileSync(join(folder, 'latest.json'), '{"version":13,"path":"/elsewhere/13"}');
    expect(await source.latest()).toEqual({ version: 13, path: '/elsewhere/13' });
  });

  it('knows the newest whole version before another', async () => {
    const put = (name: string, version: number, bytes: number) => {
      const path = join(folder, 'versions', name);
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'weights.safetensors'), 'four');
      const manifest = { version, files: { 'weights.safetensors': { bytes } } };
      writeFileSync(join(path, 'manifest.json'), JSON.stringify(manifest));
      return path;
    };
    const whole = put('000003', 3, 4);
    put('000004', 4, 5);
    put('000005', 5, 4);
    mkdirSync(join(folder, 'versions/.000002.1.tmp'));
    const source = new PublishedDirectory(folder);
    expect(await source.before(5)).toEqual({ version: 3, path: whole });
    expect(await source.before(3)).toBeNull();
  });

  it('names a file that is no announcement', async () => {
    writeFileSync(join(folder, 'latest.json'), '{"version":"new"}');
    await expect(new PublishedDirectory(folder).latest()).rejects.toMatchObject({
      message: 'this is no announcement of a version',
      where: join(folder, 'latest.json'),
    });
  });
});

describe('followVersions', () => {
  it('hands on what is newer, tells of a broken source once, and ends with the signal', async () => {
    const answers: (AvailableVersion | Error | null)[] = [
      null,
      { version: 1, path: 'v1' },
      new Error('gone'),
      new Error('gone'),
      { version: 2, path: 'v2' },
      { version: 2, path: 'v2' },
      new Error('gone'),
    ];
    const stop = new AbortController();
    const [synced, told]: [string[], string[]] = [[], []];
    let current = 1;
    await followVersions(
      {
        latest: async () => {
          const answer = answers.shift();
          if (answers.length === 0) stop.abort();
          if (answer instanceof Error) throw answer;
          return answer ?? null;
        },
      },
      {
        intervalMs: 1,
        current: () => current,
        sync: async (version, path) => {
          current = version;
          synced.push(path);
        },
        onError: (message) => told.push(message),
        signal: stop.signal,
      },
    );
    expect(synced).toEqual(['v2']);
    expect(told).toEqual(['gone', 'gone']);
  });
});
