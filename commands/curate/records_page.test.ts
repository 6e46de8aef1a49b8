import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exitCodesOf } from '../../lib/cli/layout.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { openStore } from '../../lib/store/index.ts';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { curateIn, lines } from './curate.testing.ts';
import { spec } from './spec.ts';

/** docs/records.md and --help say what the command does. */
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-page-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

/** The fields in the table below a heading of docs/records.md. */
function fieldsBelow(heading: string): string[] {
  const page = readFileSync(join(packageRoot(), 'docs/records.md'), 'utf8');
  expect(page).toContain(`\n${heading}\n`);
  const section = page.slice(page.indexOf(`\n${heading}\n`) + 4).split('\n## ')[0]!;
  const names = section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split(' | ')[0]!);
  return names.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!)).sort();
}
const fieldsOf = (record: AnyRecord) =>
  Object.keys(record)
    .filter((name) => name !== 'type' && name !== 'v')
    .sort();

describe('docs/records.md', () => {
  const pair = [0, 1].map((index) => trajectory({ id: `g.${index}`, group: 'g', index, reward: index }));

  it('lists the fields of the summary, the last two only with a cursor', async () => {
    const fields = fieldsBelow('## The summary of `dart-curate`');
    const plain = await curateIn(cwd, ['-o', 'made/on/the/way.ndjson'], lines(pair));
    expect(plain.code).toBe(0);
    const text = readFileSync(join(cwd, 'made/on/the/way.ndjson'), 'utf8');
    const withCursor = await curateIn(cwd, ['made/on/the/way.ndjson', '--cursor', 'c']);
    expect(fieldsOf(withCursor.summary)).toEqual(fields);
    expect(fieldsOf(JSON.parse(text.trim().split('\n').at(-1)!))).toEqual(
      fields.filter((name) => !/_(last|next)_run$/.test(name)),
    );
  });

  it('lists the fields of an explanation', async () => {
    const store = await openStore(`sqlite:${join(cwd, 'dart.db')}`);
    await store.insertTrajectories(pair);
    await store.close();
    const task = pair[0]!.task_id;
    const { records } = await curateIn(cwd, ['explain', '--task', task, '--store', 'sqlite:dart.db', '--quiet']);
    expect(fieldsOf(records[0]!)).toEqual(fieldsBelow('## The `explanation` event of `dart-curate explain`'));
  });
});

describe('dart-curate --help', () => {
  it('lists exit code 75, and says that -o makes folders', async () => {
    expect(exitCodesOf(spec)).toContainEqual([75, 'another run holds the lock (--cursor, --lock)']);
    expect(spec.options?.find((option) => option.name === 'output')?.describe).toContain('missing folders are made');
  });
});
