import { momentOf } from '../../formats/xlsx/dates.ts';
import { type Formula, FormulaError, UnknownFormula } from './formula.ts';
import { compare, each, type FormulaScope, type FormulaValue, numberIn, textIn } from './formula_scalars.ts';

type Call = (parts: FormulaValue[], scope: FormulaScope) => FormulaValue;
type Evaluate = (formula: Formula, scope: FormulaScope) => FormulaValue;
const VALUE = new FormulaError('#VALUE!');
const NOT_AVAILABLE = new FormulaError('#N/A');

/** A function of scalars; an error among them is its value. */
function scalar(call: (...parts: FormulaValue[]) => FormulaValue): Call {
  return (parts) =>
    each(parts, (...scalars) => scalars.find((part) => part instanceof FormulaError) ?? call(...scalars));
}

/** A function of numbers. */
function numeric(call: (...numbers: number[]) => FormulaValue): Call {
  return scalar((...parts) => {
    const numbers = parts.map(numberIn);
    return numbers.some((number) => number === null) ? VALUE : call(...(numbers as number[]));
  });
}

/** A question that errors can be asked, too. */
function asked(call: (value: FormulaValue) => boolean): Call {
  return (parts) => each(parts, (value) => call(value ?? null));
}

/** A function of all numbers in its ranges; texts and nothing in them do not count. */
function gathered(call: (numbers: number[]) => FormulaValue): Call {
  return (parts) => {
    const all = parts.flat(Number.POSITIVE_INFINITY as 1) as FormulaValue[];
    const error = all.find((part) => part instanceof FormulaError);
    return error ?? call(all.filter((part) => typeof part === 'number'));
  };
}

function date(part: 'getUTCFullYear' | 'getUTCMonth' | 'getUTCDate', shift = 0): Call {
  return numeric((serial) => {
    const moment = momentOf(serial + (serial >= 0 && serial < 1 ? 1 : 0), false, false);
    return moment === null ? new FormulaError('#NUM!') : new Date(moment.ms)[part]() + shift;
  });
}

/** WEEKDAY: 1 counts from Sunday (1), 2 from Monday (1), 3 from Monday (0), 11 to 17 from Monday to Sunday (1). */
function weekday(serial: number, type = 1): FormulaValue {
  const sunday = (((Math.floor(serial) - 1) % 7) + 7) % 7;
  if (type === 1) return sunday + 1;
  if (type === 2) return ((sunday + 6) % 7) + 1;
  if (type === 3) return (sunday + 6) % 7;
  return type >= 11 && type <= 17 ? ((sunday + 17 - type) % 7) + 1 : new FormulaError('#NUM!');
}

function search(isExact: boolean): Call {
  return scalar((needle, text, start = 1) => {
    const fold = (value: FormulaValue) => (isExact ? textIn(value) : textIn(value).toLowerCase());
    if (!isExact && /[*?~]/.test(textIn(needle!))) throw new UnknownFormula('SEARCH with wild cards');
    const at = fold(text!).indexOf(fold(needle!), Number(start) - 1);
    return at < 0 ? VALUE : at + 1;
  });
}

/** The members of a range that meet `5`, `">5"`, `"abc"`. */
function countIf([range, wanted]: FormulaValue[]): FormulaValue {
  const [, sign, rest] = /^(<>|<=|>=|=|<|>)?([\s\S]*)$/.exec(textIn(wanted ?? null))!;
  if (/[*?~]/.test(rest!)) throw new UnknownFormula('COUNTIF with wild cards');
  const value = typeof wanted === 'string' ? (numberIn(rest!) ?? rest!) : wanted!;
  const holds = (order: number) => {
    if (sign === '<>') return order !== 0;
    if (sign === '<' || sign === '<=') return order < 0 || (sign === '<=' && order === 0);
    if (sign === '>' || sign === '>=') return order > 0 || (sign === '>=' && order === 0);
    return order === 0;
  };
  const isAlike = (member: FormulaValue) => typeof member === typeof value || sign === '<>';
  return [range!].flat().filter((member) => isAlike(member) && holds(compare(member, value))).length;
}

/** The k-th of the numbers, counted from one end. */
function ranked(order: (a: number, b: number) => number): Call {
  return ([range, k]) => {
    const numbers = [range!].flat().filter((value) => typeof value === 'number');
    return numbers.sort(order)[Number(k) - 1] ?? new FormulaError('#NUM!');
  };
}

function truths(parts: FormulaValue[]): boolean[] | FormulaError {
  const all = (parts.flat() as FormulaValue[]).filter((part) => part !== null);
  const error = all.find((part) => part instanceof FormulaError);
  return error ?? all.map((part) => (typeof part === 'string' ? part.toUpperCase() === 'TRUE' : Boolean(part)));
}

function logical(call: (truths: boolean[]) => boolean): Call {
  return (parts) => {
    const values = truths(parts);
    return values instanceof FormulaError ? values : call(values);
  };
}

/** Functions by name. */
export const FUNCTIONS: Record<string, Call> = {
  AND: logical((all) => all.every(Boolean)),
  OR: logical((all) => all.some(Boolean)),
  NOT: (parts) => each(parts, (part) => (part instanceof FormulaError ? part : !numberIn(part ?? null))),
  MAX: gathered((all) => (all.length === 0 ? 0 : Math.max(...all))),
  MIN: gathered((all) => (all.length === 0 ? 0 : Math.min(...all))),
  SUM: gathered((all) => all.reduce((sum, one) => sum + one, 0)),
  AVERAGE: gathered((all) =>
    all.length === 0 ? new FormulaError('#DIV/0!') : all.reduce((s, x) => s + x, 0) / all.length,
  ),
  COUNT: gathered((all) => all.length),
  COUNTIF: countIf,
  LARGE: ranked((a, b) => b - a),
  SMALL: ranked((a, b) => a - b),
  WEEKDAY: numeric(weekday),
  YEAR: date('getUTCFullYear'),
  MONTH: date('getUTCMonth', 1),
  DAY: date('getUTCDate'),
  DATE: numeric((year, month, day) =>
    Math.round((Date.UTC(year, month - 1, day) - Date.UTC(1899, 11, 30)) / 86_400_000),
  ),
  ABS: numeric(Math.abs),
  INT: numeric(Math.floor),
  MOD: numeric((a, b) => (b === 0 ? new FormulaError('#DIV/0!') : a - b * Math.floor(a / b))),
  ROUND: numeric((value, digits = 0) => (Math.sign(value) * Math.round(Math.abs(value) * 10 ** digits)) / 10 ** digits),
  ISEVEN: numeric((value) => Math.trunc(value) % 2 === 0),
  ISODD: numeric((value) => Math.trunc(value) % 2 !== 0),
  LEN: scalar((text) => textIn(text!).length),
  LEFT: scalar((text, count = 1) => textIn(text!).slice(0, Number(count))),
  RIGHT: scalar((text, count = 1) => textIn(text!).slice(Math.max(0, textIn(text!).length - Number(count)))),
  MID: scalar((text, start, count) => textIn(text!).slice(Number(start) - 1, Number(start) - 1 + Number(count))),
  UPPER: scalar((text) => textIn(text!).toUpperCase()),
  LOWER: scalar((text) => textIn(text!).toLowerCase()),
  TRIM: scalar((text) => textIn(text!).trim().replace(/ +/g, ' ')),
  EXACT: scalar((a, b) => textIn(a!) === textIn(b!)),
  SEARCH: search(false),
  FIND: search(true),
  ISERROR: asked((value) => value instanceof FormulaError),
  ISNA: asked((value) => value instanceof FormulaError && value.name === NOT_AVAILABLE.name),
  ISNUMBER: asked((value) => typeof value === 'number'),
  ISTEXT: asked((value) => typeof value === 'string'),
  ISBLANK: asked((value) => value === null),
};

/** Functions that see their arguments before they are evaluated. */
export const LAZY: Record<string, (parts: Formula[], scope: FormulaScope, evaluate: Evaluate) => FormulaValue> = {
  IF: ([test, yes, no], scope, evaluate) => {
    const value = evaluate(test!, scope);
    if (value instanceof FormulaError) return value;
    const branch = numberIn(value) ? yes : no;
    return branch === undefined ? Boolean(numberIn(value)) : evaluate(branch, scope);
  },
  IFERROR: ([value, other], scope, evaluate) => {
    const found = evaluate(value!, scope);
    return found instanceof FormulaError ? evaluate(other!, scope) : found;
  },
  ROW: ([cell], scope) => place(cell, scope.at.row, (name) => Number(/\d+/.exec(name)![0])),
  COLUMN: ([cell], scope) => {
    if (cell === undefined) return scope.at.column;
    throw new UnknownFormula('COLUMN of a cell');
  },
};

function place(cell: Formula | undefined, here: number, read: (name: string) => number): number {
  if (cell === undefined) return here;
  if (cell.kind === 'reference') return read(cell.name);
  throw new UnknownFormula('ROW of something that is no cell');
}
