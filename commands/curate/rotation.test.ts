import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import { curateIn, lines } from './curate.testing.ts';

/** Files that are renamed and compressed while their writers may still be at them. */
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-rotation-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const at = (name: string) => join(cwd, name);
const pair = (group: string) =>
  lines([0, 1].map((index) => trajectory({ id: `${group}.${index}`, group, index, reward: index, steps: 1 })));
const write = (name: string, ...groups: string[]) => appendFileSync(at(name), groups.map(pair).join(''));
const rename = (from: string, to: string) => renameSync(at(from), at(to));

/** One run: its exit code, the groups that came, and what it said. */
async function next() {
  const { code, stderr, of } = await curateIn(cwd, ['in.ndjson', '--cursor', 'c', '--quiet']);
  const groups = [...new Set(of('sample').map((sample) => sample.group_id as string))];
  return { code, groups, said: stderr.replaceAll(`${cwd}/`, '') };
}
const places = () => JSON.parse(readFileSync(at('.local/state/dart/cursors/c.ndjson'), 'utf8').split('\n')[0]!).files;

describe('a renamed file', () => {
  it('is read on as long as it lies beside the new one, whatever it is called', async () => {
    write('in.ndjson', 'a');
    expect((await next()).groups).toEqual(['a']);
    rename('in.ndjson', 'in.ndjson.1');
    write('in.ndjson', 'b');
    expect(await next()).toEqual({ code: 0, groups: ['b'], said: '' });
    // Its writer has not been told of the rename.
    write('in.ndjson.1', 'c');
    write('in.ndjson', 'd');
    expect(await next()).toEqual({ code: 0, groups: ['c', 'd'], said: '' });
    rename('in.ndjson.1', 'in.ndjson.2');
    rename('in.ndjson', 'in.ndjson.1');
    write('in.ndjson', 'g');
    write('in.ndjson.1', 'f');
    write('in.ndjson.2', 'e');
    expect(await next()).toEqual({ code: 0, groups: ['e', 'f', 'g'], said: '' });
    expect(await next()).toEqual({ code: 1, groups: [], said: '' });
    const [place] = places();
    expect([place.lines, place.renamed.map((one: { lines: number }) => one.lines)]).toEqual([2, [6, 6]]);
  });

  it('is read where there is no new one yet', async () => {
    write('in.ndjson', 'a');
    await next();
    rename('in.ndjson', 'in.ndjson-20260101');
    write('in.ndjson-20260101', 'b');
    const alone = await next();
    expect([alone.code, alone.groups]).toEqual([0, ['b']]);
    expect(alone.said).toContain(
      'in.ndjson: there is no such file now; its renamed one, in.ndjson-20260101, is read on',
    );
    write('in.ndjson-20260101', 'c');
    write('in.ndjson', 'd');
    expect(await next()).toEqual({ code: 0, groups: ['c', 'd'], said: '' });
    write('in.ndjson-20260101', 'e');
    expect((await next()).groups).toEqual(['e']);
  });

  it('is found when nothing of it had been read', async () => {
    const text = pair('a');
    writeFileSync(at('in.ndjson'), text.slice(0, 40));
    expect((await next()).code).toBe(1);
    appendFileSync(at('in.ndjson'), text.slice(40));
    rename('in.ndjson', 'in.ndjson.1');
    write('in.ndjson', 'b');
    expect((await next()).groups).toEqual(['a', 'b']);
  });

  it.each([
    ['in.ndjson.3', 'in.ndjson.2', 'in.ndjson.1'],
    ['in.ndjson-20260101', 'in.ndjson-20260102', 'in.ndjson-20260103'],
  ])('is followed by those that came and went between two runs (%s)', async (oldest, older, old) => {
    write('in.ndjson', 'a');
    write('in.ndjson.backup', 'no');
    await next();
    rename('in.ndjson', oldest);
    write(oldest, 'b');
    write(older, 'c');
    write(old, 'd');
    write('in.ndjson', 'e');
    expect(await next()).toEqual({ code: 0, groups: ['b', 'c', 'd', 'e'], said: '' });
    expect((await next()).groups).toEqual([]);
  });

  it('with a line that is cut short is told of once, and the line is read when it is whole', async () => {
    write('in.ndjson', 'a');
    await next();
    const text = pair('b');
    appendFileSync(at('in.ndjson'), text.slice(0, -40));
    rename('in.ndjson', 'in.ndjson.1');
    write('in.ndjson', 'c');
    const first = await next();
    const torn = text.length - 40 - text.indexOf('\n') - 1;
    expect([first.code, first.groups]).toEqual([0, ['c']]);
    expect(first.said).toContain(`in.ndjson.1: the last line of this renamed file is cut short (its ${torn} bytes`);
    expect(await next()).toEqual({ code: 1, groups: [], said: '' });
    appendFileSync(at('in.ndjson.1'), text.slice(-40));
    expect(await next()).toEqual({ code: 0, groups: ['b'], said: '' });
  });

  it('that vanishes with such a line is told of', async () => {
    write('in.ndjson', 'a');
    await next();
    appendFileSync(at('in.ndjson'), '{"type":');
    rename('in.ndjson', 'in.ndjson.1');
    write('in.ndjson', 'b');
    await next();
    unlinkSync(at('in.ndjson.1'));
    expect((await next()).said).toContain(
      'in.ndjson.1: the file is gone with a last line that never ended: 8 bytes were not read',
    );
    expect((await next()).said).toBe('');
  });
});

describe('a file that was cut by copytruncate', () => {
  const cut = (copy: string) => {
    copyFileSync(at('in.ndjson'), at(copy));
    truncateSync(at('in.ndjson'));
  };

  it('is told of loudly, and its copy is read to the end', async () => {
    write('in.ndjson', 'a');
    await next();
    write('in.ndjson', 'b');
    cut('in.ndjson.1');
    write('in.ndjson', 'c');
    const { code, groups, said } = await next();
    expect([code, groups]).toEqual([0, ['b', 'c']]);
    const sizes = `it had ${pair('a').length} bytes when it was read last and has ${pair('c').length} now`;
    expect(said).toContain(
      `warning: in.ndjson: the file was cut (${sizes}). Its copy in.ndjson.1 is read on; lines that`,
    );
    expect(said).toContain('Try: logrotate without copytruncate');
    expect(await next()).toEqual({ code: 1, groups: [], said: '' });
  });

  it('and had no lines left to read is read on from where it stands', async () => {
    write('in.ndjson', 'a');
    await next();
    cut('in.ndjson-20260102');
    expect((await next()).code).toBe(1);
    write('in.ndjson', 'b');
    expect(await next()).toEqual({ code: 0, groups: ['b'], said: '' });
  });
});

describe('a compressed file', () => {
  const compress = (from: string, to: string) => {
    writeFileSync(at(to), gzipSync(readFileSync(at(from))));
    unlinkSync(at(from));
  };

  it('with lines that were not read is named, with the command that prints just those', async () => {
    write('in.ndjson', 'a');
    await next();
    write('in.ndjson', 'b');
    writeFileSync(at('in.ndjson.2.gz'), gzipSync(pair('x')));
    compress('in.ndjson', 'in.ndjson.1.gz');
    write('in.ndjson', 'c');
    const { code, groups, said } = await next();
    expect([code, groups]).toEqual([0, ['c']]);
    const start = 'in.ndjson.1.gz: compressed before it was read to its end: read up to line 2, not read: the last';
    expect(said).toContain(`${start} ${pair('b').length} bytes. Try: zcat`);
    const [printing] = /zcat \S+ \| tail -n \+\d+/.exec(said)!;
    expect(execFileSync('sh', ['-c', printing], { cwd, encoding: 'utf8' })).toBe(pair('b'));
    expect(await next()).toEqual({ code: 1, groups: [], said: '' });
  });

  it('that had been read to its end is nothing to tell of, now or after delaycompress', async () => {
    write('in.ndjson', 'a');
    await next();
    compress('in.ndjson', 'in.ndjson.1.gz');
    write('in.ndjson', 'b');
    expect(await next()).toEqual({ code: 0, groups: ['b'], said: '' });
    rename('in.ndjson', 'in.ndjson.1');
    write('in.ndjson', 'c');
    expect((await next()).groups).toEqual(['c']);
    compress('in.ndjson.1', 'in.ndjson.2.gz');
    expect(await next()).toEqual({ code: 1, groups: [], said: '' });
  });

  it('shows which uncompressed ones came after it', async () => {
    write('in.ndjson', 'a');
    await next();
    compress('in.ndjson', 'in.ndjson.2.gz');
    write('in.ndjson.1', 'b');
    write('in.ndjson', 'c');
    expect(await next()).toEqual({ code: 0, groups: ['b', 'c'], said: '' });
  });

  it('of another kind is named without numbers', async () => {
    write('in.ndjson', 'a');
    await next();
    rmSync(at('in.ndjson'));
    writeFileSync(at('in.ndjson.1.xz'), 'cannot be looked into');
    write('in.ndjson', 'b');
    const { groups, said } = await next();
    expect(groups).toEqual(['b']);
    expect(said).toMatch(/in\.ndjson\.1\.xz: compressed before .* not read: what came after it\. Try: xzcat/);
  });
});

describe('what is no file', () => {
  it.each(['pipe', '/dev/null'])('is refused with a cursor (%s)', async (name) => {
    execFileSync('mkfifo', [at('pipe')]);
    const { code, stderr } = await curateIn(cwd, [name, '--cursor', 'c']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/it is (a pipe|no regular file), which has no place for --cursor to go on from\. Try: cat /);
  });
});
