import type { FormulaError } from './formula.ts';

/** What a formula is made of; null is an empty cell, a list a range's cells in a row. */
export type FormulaValue = number | string | boolean | null | FormulaError | FormulaValue[];

/** Where references lead, and where the formula itself stands (for ROW() and COLUMN()). */
export interface FormulaScope {
  value: (reference: string) => FormulaValue;
  at: { row: number; column: number };
}

/** Calls with scalars; where an argument is a list, once for each of its members. */
export function each(parts: FormulaValue[], call: (...scalars: FormulaValue[]) => FormulaValue): FormulaValue {
  const length = Math.max(0, ...parts.map((part) => (Array.isArray(part) ? part.length : 0)));
  if (!parts.some(Array.isArray)) return call(...parts);
  return Array.from({ length }, (_, at) =>
    call(...parts.map((part) => (Array.isArray(part) ? (part[part.length === 1 ? 0 : at] ?? null) : part))),
  );
}

/** Excel's order: numbers before texts (without regard to case) before truth values; nothing is like 0 and `""`. */
export function compare(a: FormulaValue, b: FormulaValue): number {
  const [left, right] = [a ?? emptyLike(b), b ?? emptyLike(a)];
  const rank = (value: FormulaValue) => ['number', 'string', 'boolean'].indexOf(typeof value);
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  if (typeof left === 'string') {
    const [x, y] = [left.toUpperCase(), String(right).toUpperCase()];
    return x < y ? -1 : Number(x > y);
  }
  return Number(left) - Number(right);
}

function emptyLike(other: FormulaValue): FormulaValue {
  if (typeof other === 'string') return '';
  return typeof other === 'boolean' ? false : 0;
}

/** A scalar as a number; null where it is a text that reads as none. */
export function numberIn(value: FormulaValue): number | null {
  if (typeof value === 'string') return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : null;
  return Number(value ?? 0);
}

/** A scalar as text. */
export function textIn(value: FormulaValue): string {
  if (value === null) return '';
  return typeof value === 'boolean' ? String(value).toUpperCase() : String(value);
}
