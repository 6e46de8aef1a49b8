import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DartError } from '../errors.ts';
import { type Cursor, CursorFile } from './cursor.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-cursor-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const path = () => join(dir, 'nightly.ndjson');
const STATE = { v: 1 as const, files: [], store: { rollout_seq: 0, gaps: [] }, closed: [], versions: {}, newest: null };

async function refusal(text: string): Promise<string> {
  writeFileSync(path(), text);
  const error: DartError = await new CursorFile(path()).load().then(
    () => expect.fail('it was taken'),
    (thrown) => thrown,
  );
  expect(error.exitCode).toBe(2);
  return error.describe();
}

describe('a cursor in a file', () => {
  it('is what was kept, and empty where nothing was', async () => {
    const file = new CursorFile(path());
    expect(await file.load()).toEqual({ state: STATE, groups: [] });
    const kept = { state: { ...STATE, closed: ['g0'], newest: 5 }, groups: [{ members: [] }] } as unknown as Cursor;
    await file.save(kept);
    expect(await file.load()).toEqual(kept);
  });

  it.each([
    ['', 'the cursor is empty'],
    ['\n', 'the cursor is empty'],
    ['\0\0\0\0', 'this is not a cursor'],
    ['null\n', 'this is not a cursor'],
    ['[]\n', 'this is not a cursor'],
    ['{"type":"trajectory"}\n', 'this is not a cursor'],
    [`${JSON.stringify(STATE).slice(0, -9)}`, 'this is not a cursor'],
    ['{"v":1}\n', 'the cursor is not whole'],
    [`${JSON.stringify(STATE)}\n{"group_id":"g"}\n`, 'the cursor is not whole'],
    [`${JSON.stringify({ ...STATE, files: [null] })}\n`, 'the cursor is not whole'],
  ])('that holds %j is refused by its path, with what reading again means', async (text, what) => {
    const said = await refusal(text);
    expect(said.startsWith(`${path()}: ${what}. Try: another --cursor name, or deleting it: `)).toBe(true);
    expect(said).toContain('samples made before are made again');
  });

  it('of a newer version is refused by its path', async () => {
    expect(await refusal('{"v":2}\n')).toContain(`${path()}: the cursor has version 2, this toolkit reads version 1`);
  });

  it('that cannot be read is not taken for none', async () => {
    mkdirSync(path());
    await expect(new CursorFile(path()).load()).rejects.toMatchObject({
      message: 'cannot read the cursor: it is a folder, not a file',
    });
  });
});
