import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeLeftovers, temporaryName } from './temporary.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-temporary-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

/** A number that no process has: that of one that has just ended. */
const deadPid = () => spawnSync('true').pid;

describe('temporaryName', () => {
  it('fits into a folder beside the longest name that a file can have', () => {
    expect(Buffer.byteLength(basename(temporaryName(join(dir, '\u{1d4d0}'.repeat(63)))))).toBeLessThan(255);
  });
});

describe('removeLeftovers', () => {
  it('removes what a process that has ended was writing', () => {
    const mine = basename(temporaryName(join(dir, 'out.ndjson')));
    expect(mine).toMatch(new RegExp(`^\\.out\\.ndjson\\.[0-9a-f]{8}\\.${process.pid}\\.[0-9a-z]+\\.\\d+\\.tmp$`));
    writeFileSync(join(dir, mine.replace(`.${process.pid}.`, `.${deadPid()}.`)), 'half');
    removeLeftovers(dir);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('leaves alone what may be in the making, and what is not its own', () => {
    const mine = basename(temporaryName(join(dir, 'out.ndjson')));
    const [, , , host, , start] = mine.split('.');
    const kept = [
      mine,
      // Another machine or container, in which the number may be that of a living process.
      `.out.ndjson.${host === '00000000' ? '11111111' : '00000000'}.${deadPid()}.${start}.1.tmp`,
      // Process 1 belongs to somebody else; when it began is not known to the name.
      `.out.ndjson.${host}.1.0.1.tmp`,
      `.out.ndjson.${deadPid()}.1.tmp`,
      'out.ndjson',
    ];
    for (const name of kept) writeFileSync(join(dir, name), '');
    removeLeftovers(dir);
    expect(readdirSync(dir).sort()).toEqual(kept.sort());
  });

  it.runIf(process.platform === 'linux')('is not misled by a process that got the same number later', () => {
    const mine = basename(temporaryName(join(dir, 'out.ndjson')));
    const [, , , host, pid, start] = mine.split('.');
    writeFileSync(join(dir, `.out.ndjson.${host}.${pid}.${start}0.1.tmp`), 'half');
    removeLeftovers(dir);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('has nothing to say of a folder that is not there', () => {
    expect(() => removeLeftovers(join(dir, 'none'))).not.toThrow();
  });
});
