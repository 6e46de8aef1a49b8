import { expect, it } from 'vitest';
import { DartError } from '../../../errors.ts';
import { type Changed, goldenRows, isChanged, type Row, scoreOf } from './slides.testing.ts';

const show = (value: unknown) =>
  isChanged(value)
    ? [value.file, ...(value.edits ?? []).map((edit) => edit.join(' | '))].join(' ; ')
    : JSON.stringify(value);

/** The row's score; "error" for an error of the task. */
async function score(row: Row): Promise<number | 'error'> {
  try {
    return await scoreOf(row);
  } catch (error) {
    if (error instanceof DartError) return 'error';
    throw error;
  }
}

/** Where OSWorld's code breaks the result is to blame, but where the expected document breaks it even beside itself. */
async function wanted(row: Row): Promise<number | 'error'> {
  if (row.score !== 'raises') return row.score;
  if (!isChanged(row.expected)) return 0;
  const itself = { ...row, result: row.expected as Changed };
  return (await score(itself)) === 'error' ? 'error' : 0;
}

it('gives what OSWorld gives for every pair of documents', async () => {
  const rows = goldenRows();
  const differing: string[] = [];
  for (const row of rows) {
    const [ours, theirs] = [await score(row), await wanted(row)];
    if (ours !== theirs) {
      const inputs = [row.result, row.expected, row.options].map(show).join('\n   ');
      differing.push(`${row.metric}: ${ours}, not ${theirs} (${row.score})\n   ${inputs}`);
    }
  }
  expect(differing.join('\n')).toBe('');
  expect(rows.length).toBeGreaterThan(500);
}, 600_000);
