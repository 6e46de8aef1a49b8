/** A rectangle of cells, both ends included, counted from 1. */
export interface Range {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A cell's row and column, counted from 1. */
export interface Position {
  row: number;
  column: number;
}

const MAX_COLUMNS = 16384;
const MAX_ROWS = 1048576;

/** `A` is 1, `AA` 27. */
export function columnNumber(letters: string): number {
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

/** 1 is `A`, 27 `AA`. */
export function columnLetters(column: number): string {
  const rest = (column - 1) % 26;
  return `${column > 26 ? columnLetters((column - 1 - rest) / 26) : ''}${String.fromCharCode(65 + rest)}`;
}

/** `B3`, `$B$3`. Throws an Error where the text is no cell. */
export function positionOf(text: string): Position {
  const match = /^\$?([A-Za-z]{1,3})\$?(\d+)$/.exec(text);
  if (match === null) throw new Error(`${JSON.stringify(text)} is not a cell`);
  return { row: Number(match[2]), column: columnNumber(match[1]!) };
}

/** `A1:B6`, one cell, whole columns `A:B` or rows `1:2`. Throws an Error where the text is no range. */
export function rangeOf(text: string): Range {
  const match = /^\$?([A-Za-z]{1,3})?\$?(\d+)?(?::\$?([A-Za-z]{1,3})?\$?(\d+)?)?$/.exec(text);
  const [, left, top, right, bottom] = match ?? [];
  const isOne = !text.includes(':') && left !== undefined && top !== undefined;
  const isBox = left !== undefined && right !== undefined && (top === undefined) === (bottom === undefined);
  const isRows = left === undefined && right === undefined && top !== undefined && bottom !== undefined;
  if (match === null || !(isOne || isBox || isRows)) throw new Error(`${JSON.stringify(text)} is not a range`);
  const range = {
    left: left === undefined ? 1 : columnNumber(left),
    top: top === undefined ? 1 : Number(top),
    right: right === undefined ? (isRows ? MAX_COLUMNS : columnNumber(left!)) : columnNumber(right),
    bottom: bottom === undefined ? (isOne ? Number(top) : MAX_ROWS) : Number(bottom),
  };
  if (range.left > range.right || range.top > range.bottom) throw new Error(`${text} ends before it begins`);
  return range;
}

/** Ranges separated by blanks. */
export function rangesOf(text: string): Range[] {
  return text
    .split(/\s+/)
    .filter((part) => part !== '')
    .map(rangeOf);
}

/** True where every cell of `inner` is in `outer`. */
export function holds(outer: Range, inner: Range): boolean {
  return (
    outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom
  );
}

/** How many cells a range has. */
export function sizeOf(range: Range): number {
  return (range.right - range.left + 1) * (range.bottom - range.top + 1);
}

/** The cells of a range, row by row. */
export function* cellsIn(range: Range): Generator<Position> {
  for (let row = range.top; row <= range.bottom; row += 1) {
    for (let column = range.left; column <= range.right; column += 1) yield { row, column };
  }
}

/** `B3` for row 3, column 2. */
export function nameOf({ row, column }: Position): string {
  return `${columnLetters(column)}${row}`;
}
