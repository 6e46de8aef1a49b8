import { stripVTControlCharacters } from 'node:util';
import { visible } from '../stream/visible.ts';
import type { Io } from './spec.ts';

export type Cell = string | number | null;

/**
 * Prints a table for people on stderr: no colours and no frames, numbers to the right. `null` is shown as a dash.
 * Awaited by the caller, since the library is loaded when it is first needed.
 */
export async function printTable(
  io: Pick<Io, 'stderr'>,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
): Promise<void> {
  io.stderr.write(`${await renderTable(head, rows)}\n`);
}

/** The table as text without frame and colours; columns of numbers are flush right, null is `-`. */
export async function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, column) => (rows.every((row) => isNumeric(row[column])) ? 'right' : 'left')),
    // Without these it writes colours even into pipes.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    chars: FRAMELESS,
  });
  for (const row of rows)
    table.push(row.map((cell) => (cell === null ? '-' : visible(stripVTControlCharacters(String(cell))))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function isNumeric(cell: Cell | undefined): boolean {
  return cell === null || cell === undefined || /^[-+]?[\d.,]+ ?(%|x|ms|s|MB\/s)?( .*)?$/.test(String(cell));
}

const NONE = { top: '', bottom: '', left: '', right: '', mid: '' };
const FRAMELESS = {
  ...NONE,
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  'left-mid': '',
  'mid-mid': '',
  'right-mid': '',
  middle: '  ',
};
