import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followFile } from './follow.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-follow-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('followFile', () => {
  it('reads on as the file grows, until it is told to stop', async () => {
    const path = join(dir, 'growing.ndjson');
    writeFileSync(path, '{"a":1}\n{"a"');
    const stop = new AbortController();
    const seen: string[] = [];
    for await (const bytes of followFile(path, stop.signal, { pollMs: 1 })) {
      seen.push(Buffer.from(bytes).toString());
      if (seen.length === 1) appendFileSync(path, ':2}\n');
      else setTimeout(() => stop.abort(), 5);
    }
    expect(seen).toEqual(['{"a":1}\n{"a"', ':2}\n']);
  });

  it('tells of a file that was cut, and reads it from its beginning', async () => {
    const path = join(dir, 'cut.ndjson');
    writeFileSync(path, '{"a":1}\n{"a"');
    const stop = new AbortController();
    const told: string[] = [];
    let text = '';
    for await (const bytes of followFile(path, stop.signal, { pollMs: 1, onCut: (message) => told.push(message) })) {
      text += Buffer.from(bytes).toString();
      if (told.length === 0) writeFileSync(path, 'b\n');
      if (text.endsWith('b\n')) stop.abort();
    }
    expect(text).toBe('{"a":1}\n{"a"\nb\n');
    expect(told).toEqual([
      expect.stringContaining(`${path}: the file was cut: 12 bytes of it were read and it has 2 now`),
    ]);
  });

  it('says that there is no such file', async () => {
    const bytes = followFile(join(dir, 'missing'), new AbortController().signal);
    await expect(bytes.next()).rejects.toMatchObject({
      where: join(dir, 'missing'),
      message: 'cannot read: no such file or folder',
    });
  });
});
