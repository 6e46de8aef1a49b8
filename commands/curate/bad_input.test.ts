import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { type Sketch, trajectory } from '../../lib/store/trajectories.testing.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { spec } from './spec.ts';

/** The table "Bad input" of docs/curation.md, row by row. */
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-bad-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const page = readFileSync(join(packageRoot(), 'docs/curation.md'), 'utf8');

/** What the page says of a kind of bad input: the message or reason, and the exit code. */
function documented(kind: string): { said: string[]; exit: string } {
  const row = page.split('\n').find((line) => line.startsWith(`| ${kind} |`))!;
  const [, , message, exit] = row.split(' | ').length === 3 ? ['', ...row.split(' | ')] : [];
  return { said: [...message!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!), exit: exit!.replace(' |', '') };
}

function member(index: number, changes: Partial<Sketch> = {}): string {
  return `${JSON.stringify(trajectory({ id: `m${index}`, index, reward: index, steps: 1, ...changes }))}\n`;
}
const good = () => member(0) + member(1);

async function curate(input: string | Uint8Array | null, ...args: string[]) {
  if (input !== null) writeFileSync(join(cwd, 'in.ndjson'), input);
  const io = testIo({ cwd });
  const code = await runCommand(spec, ['in.ndjson', ...args], io);
  return { code, err: io.err(), records: io.records() };
}

const cases: [string, string | null][] = [
  ['torn last line', good() + member(0, { group: 'g2' }).slice(0, 200)],
  ['newer schema version', member(0).replace('"v":1', '"v":2')],
  ['line of 65 MiB', `${member(0)}{"type":"trajectory","x":"${'x'.repeat(65 * 1024 * 1024)}"}\n${member(1)}`],
  ['reward outside 0..1', member(0, { reward: 1.5 })],
  ['not JSON', 'nonsense\n'],
  ['a line `null`', 'null\n'],
  ['no such file', null],
];

describe('bad input', () => {
  it.each(cases)('%s: the documented message, exit code 2, no output file', async (kind, input) => {
    const { said, exit } = documented(kind);
    const { code, err } = await curate(input, '-o', 'out.ndjson');
    expect([code, exit]).toEqual([2, '2']);
    expect(err).toContain(said[0]!.replace('…', ''));
    expect(existsSync(join(cwd, 'out.ndjson'))).toBe(false);
  });

  it.each(['fail', 'skip'])('compressed: the documented message, exit code 2 (--on-error %s)', async (onError) => {
    const { said, exit } = documented('compressed');
    const { code, err, records } = await curate(gzipSync(good()), '--on-error', onError);
    expect([code, exit, records]).toEqual([2, '2', []]);
    expect(err).toBe(`dart-curate: ${said[0]!.replace('\\|', '|')}\n`);
  });

  it.each(cases.filter(([, input]) => input !== null))('%s: left out with --on-error skip', async (_kind, input) => {
    const { code, records, err } = await curate(
      `${input!.replace(/\n?$/, '\n')}${good().replaceAll('"g1"', '"g9"')}`,
      '--on-error',
      'skip',
    );
    expect(code).toBe(2);
    expect(records.at(-1)).toMatchObject({ type: 'summary', skipped_records: 1 });
    expect(records.filter((record) => record.event === 'record_rejected')).toMatchObject([{ reason: 'bad_record' }]);
    expect(err).toContain('warning: left out: in.ndjson:');
    expect(records.filter((record) => record.group_id === 'g9' && record.type === 'sample')).toHaveLength(2);
  });

  it.each([
    ['missing blob (`--blobs`)', good(), ['--blobs', 'blobs']],
    ['scored outcome without reward', member(0) + member(1, { reward: null, outcome: 'success' }), []],
    ['group of one', member(1, { size: 1 }), []],
  ])('%s: the documented event, exit code 1', async (kind, input, args) => {
    await new BlobStore(join(cwd, 'blobs')).put(Buffer.from('another picture'));
    const { said, exit } = documented(kind);
    const { code, records } = await curate(input, ...args);
    expect([code, exit]).toEqual([1, '1 when no group is left']);
    const [event, reason] = said;
    expect(records.filter((record) => record.event === event && record.reason === reason).length).toBeGreaterThan(0);
  });

  it('says the events of bad lines in their place, however the input is cut into chunks', async () => {
    const bad = '{"type":"trajectory"}\n';
    const input = `${bad}${good()}nonsense\n${member(0, { group: 'g2' })}${bad}${member(1, { group: 'g2' })}`;
    const { records } = await curate(input, '--on-error', 'skip');
    expect(records.map((record) => record.where ?? record.type)).toEqual([
      'in.ndjson:1',
      'sample',
      'sample',
      'in.ndjson:4',
      'in.ndjson:6',
      'sample',
      'sample',
      'summary',
    ]);
  });
});
