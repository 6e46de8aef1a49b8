import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { flock, pollHangup } from './index.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dart-posix-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('flock', () => {
  it('is refused while another open file holds it, and free once that is closed', () => {
    const path = join(folder, 'lock');
    const first = openSync(path, 'w');
    const second = openSync(path, 'w');
    expect(flock(first)).toBe(true);
    expect(flock(first)).toBe(true);
    expect(flock(second)).toBe(false);
    closeSync(first);
    expect(flock(second)).toBe(true);
    closeSync(second);
  });

  it('says what is wrong with a file that is not open', () => {
    expect(() => flock(999_999)).toThrow('flock: Bad file descriptor');
    expect(() => flock(-1)).toThrow('Expected an integer of at least 0 for fd but received -1');
  });
});

describe('pollHangup', () => {
  it('is true once the reader of a pipe has gone', () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, 'w');
    expect(pollHangup(writer)).toBe(false);
    closeSync(reader);
    expect(pollHangup(writer)).toBe(true);
    closeSync(writer);
  });

  it('is false for a file, and an error for a closed one', () => {
    const file = openSync(join(folder, 'file'), 'w');
    expect(pollHangup(file)).toBe(false);
    closeSync(file);
    expect(() => pollHangup(999_999)).toThrow('not open');
  });
});
