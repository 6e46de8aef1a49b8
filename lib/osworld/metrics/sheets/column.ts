import { isMoment, type PythonValue } from './python.ts';

/** The types of a pandas column that a spreadsheet can give. Columns of two types are never equal. */
export type ColumnType = 'object' | 'float64' | 'int64' | 'uint64' | 'bool' | 'datetime64' | 'timedelta64';

export interface Column {
  type: ColumnType;
  values: PythonValue[];
}

/** Texts that pandas takes for a missing value. */
const MISSING = new Set(
  '-1.#IND,1.#QNAN,1.#IND,-1.#QNAN,#N/A N/A,#N/A,N/A,n/a,NA,<NA>,#NA,NULL,null,NaN,-NaN,nan,-nan,None,'.split(','),
);
const NUMBER = /^[ \t-\r]*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[ \t-\r]*$/;
const INFINITY = /^([+-]?)inf(?:inity)?$/i;
const INT64_END = 2n ** 63n;
const UINT64_END = 2n ** 64n;
/** Times that fit into 64 bits of nanoseconds, in milliseconds since 1970. */
const NANOSECOND_LIMIT = 9_223_372_036_854;

/**
 * What pandas makes of a column of cells: numbers where every cell is one or reads as one or is empty; truth values;
 * dates; else objects, in which empty cells and pandas's words for nothing are missing.
 * @param cells as they stand, `''` for an empty one and null for an error
 */
export function columnOf(cells: PythonValue[]): Column {
  const numeric = numericColumn(cells);
  if (numeric !== null) return numeric;
  const values = cells.map((cell) => (typeof cell === 'string' && MISSING.has(cell) ? null : cell));
  return truthColumn(values) ?? momentColumn(values) ?? { type: 'object', values };
}

function numericColumn(cells: PythonValue[]): Column | null {
  const values: (number | bigint | boolean | null)[] = [];
  let isFloat = false;
  let isWhole = false;
  for (const cell of cells) {
    const value = numberIn(cell);
    if (value === undefined) return null;
    values.push(value.number);
    isFloat ||= value.isFloat;
    isWhole ||= typeof value.number === 'number' || typeof value.number === 'bigint';
  }
  const numbers = values.filter((value) => typeof value === 'bigint' || Number.isInteger(value)).map((n) => BigInt(n!));
  const isUnsigned = numbers.some((value) => value >= INT64_END && value < UINT64_END);
  const isSigned = numbers.some((value) => value < 0n);
  // Between the greatest of 63 bits and of 64, pandas leaves a column with signs or gaps as it stands.
  if (isUnsigned && (isSigned || values.includes(null))) return { type: 'object', values: cells };
  if (isFloat || numbers.some((value) => value >= UINT64_END || value < -INT64_END)) {
    return { type: 'float64', values: values.map((value) => (value === null ? null : Number(value))) };
  }
  if (isUnsigned) return { type: 'uint64', values };
  if (isWhole || values.length === 0) return { type: values.length === 0 ? 'object' : 'int64', values };
  return { type: 'bool', values };
}

/** A cell as a number, or nothing that one could be made of. */
function numberIn(cell: PythonValue): { number: number | bigint | boolean | null; isFloat: boolean } | undefined {
  if (cell === null || (typeof cell === 'string' && MISSING.has(cell))) return { number: null, isFloat: true };
  if (typeof cell === 'boolean' || typeof cell === 'bigint') return { number: cell, isFloat: false };
  if (typeof cell === 'number') return { number: cell, isFloat: !Number.isInteger(cell) };
  if (typeof cell !== 'string') return undefined;
  if (NUMBER.test(cell)) {
    if (/[.eE]/.test(cell)) return { number: Number(cell), isFloat: true };
    const number = Number(cell);
    return { number: Number.isSafeInteger(number) ? number : BigInt(cell.trim().replace('+', '')), isFloat: false };
  }
  const infinity = INFINITY.exec(cell);
  if (infinity === null) return undefined;
  return { number: infinity[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY, isFloat: true };
}

function truthColumn(values: PythonValue[]): Column | null {
  const isTrue = (value: PythonValue) => value === true || ['True', 'TRUE', 'true'].includes(value as string);
  const isFalse = (value: PythonValue) => value === false || ['False', 'FALSE', 'false'].includes(value as string);
  if (!values.every((value) => value === null || isTrue(value) || isFalse(value))) return null;
  const type = values.includes(null) ? 'object' : 'bool';
  return { type, values: values.map((value) => (value === null ? null : isTrue(value))) };
}

function momentColumn(values: PythonValue[]): Column | null {
  const there = values.filter((value) => value !== null);
  if (there.length === 0 || !there.every(isMoment)) return null;
  const kind = there[0]!.kind;
  const fits = there.every((value) => value.kind === kind && Math.abs(value.ms) < NANOSECOND_LIMIT);
  if (kind === 'time' || !fits) return null;
  return { type: kind === 'datetime' ? 'datetime64' : 'timedelta64', values };
}

/** The column with floats rounded to that many digits after the point, halves to the even digit. */
export function roundColumn(column: Column, digits: number): Column {
  if (column.type !== 'float64' && !(column.type === 'int64' && digits < 0)) return column;
  const factor = 10 ** Math.abs(digits);
  const round = (value: number) => (digits < 0 ? halfEven(value / factor) * factor : halfEven(value * factor) / factor);
  return {
    type: column.type,
    values: column.values.map((value) => (typeof value === 'number' ? round(value) : value)),
  };
}

function halfEven(value: number): number {
  const down = Math.floor(value);
  if (value - down !== 0.5) return Math.round(value);
  return down % 2 === 0 ? down : down + 1;
}
