import { showMoment } from '../../formats/xlsx/dates.ts';
import type { Cell, CellRow } from '../../formats/xlsx/sheet.ts';
import { type Column, columnOf, roundColumn } from './column.ts';
import { isMoment, type PythonValue, same, showFloat } from './python.ts';

/** A sheet as `pandas.read_excel` gives it: the first row names the columns, the others fill them. */
export interface Frame {
  names: PythonValue[];
  columns: Column[];
  length: number;
}

/** The frame of a sheet's rows, with the results of formulas as they were stored. */
export function frameOf(rows: CellRow[]): Frame {
  const grid = gridOf(rows);
  const [head, ...body] = grid;
  if (head === undefined) return { names: [], columns: [], length: 0 };
  const columns = head.map((_, at) => columnOf(body.map((row) => row[at]!)));
  return { names: namesOf(head), columns, length: body.length };
}

/** Rows from the first of the sheet to the last with a value, all as wide as the widest; `''` where nothing stands. */
function gridOf(rows: CellRow[]): PythonValue[][] {
  const grid: PythonValue[][] = [];
  let width = 0;
  for (const { row, cells } of rows) {
    const values: PythonValue[] = [];
    for (const cell of cells) values[cell.column - 1] = pandasValue(cell);
    const last = values.findLastIndex((value) => value !== undefined && value !== '');
    // A row that comes twice counts the first time.
    if (last < 0 || grid[row - 1] !== undefined) continue;
    grid[row - 1] = values.slice(0, last + 1);
    width = Math.max(width, last + 1);
  }
  return Array.from(grid, (row) => Array.from({ length: width }, (_, at) => row?.[at] ?? emptyOr(row?.[at])));
}

/** null is an error's missing value and stays; what is not there is an empty text. */
function emptyOr(value: PythonValue | undefined): PythonValue {
  return value === null ? null : '';
}

function pandasValue(cell: Cell): PythonValue {
  if (cell.isError) return null;
  return cell.value ?? '';
}

/** Names of columns: `Unnamed: 3` where there is none, `x.1` for a second `x`. */
function namesOf(head: PythonValue[]): PythonValue[] {
  const names = head.map((name, at) => (name === '' ? `Unnamed: ${at}` : name));
  const named = head.flatMap((name, at) => (name === '' ? [] : [at]));
  const unnamed = head.flatMap((name, at) => (name === '' ? [at] : []));
  const counts = new Map<string, number>();
  for (const at of [...named, ...unnamed]) {
    const first = names[at]!;
    let name = first;
    let count = counts.get(keyOf(name)) ?? 0;
    while (count > 0) {
      counts.set(keyOf(first), count + 1);
      name = `${show(first)}.${count}`;
      count = names.some((other) => same(other, name)) ? count + 1 : (counts.get(keyOf(name)) ?? 0);
    }
    names[at] = name;
    counts.set(keyOf(name), count + 1);
  }
  return names;
}

/** The same for values that are equal in Python. */
function keyOf(value: PythonValue): string {
  if (isMoment(value)) return `${value.kind} ${value.ms}`;
  return typeof value === 'string' ? `"${value}` : String(typeof value === 'boolean' ? Number(value) : value);
}

function show(value: PythonValue): string {
  if (isMoment(value)) return showMoment(value);
  if (value === null) return 'nan';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'number' && !Number.isInteger(value) ? showFloat(value) : String(value);
}

/** pandas's `equals` after `round(digits)`: names, number of rows, types of columns, values; missing equals missing. */
export function framesEqual(a: Frame, b: Frame, digits: number): boolean {
  return (
    a.length === b.length &&
    a.names.length === b.names.length &&
    a.names.every((name, at) => same(name, b.names[at]!)) &&
    a.columns.every((column, at) => columnsEqual(roundColumn(column, digits), roundColumn(b.columns[at]!, digits)))
  );
}

function columnsEqual(a: Column, b: Column): boolean {
  return a.type === b.type && a.values.every((value, at) => same(value, b.values[at]!));
}
