import { type ConditionalFormat, type ConditionalRule, conditionalFormatsOf } from '../../formats/xlsx/features.ts';
import { cellsIn, nameOf, type Position, rangeOf } from '../../formats/xlsx/ranges.ts';
import type { DifferentialStyle } from '../../formats/xlsx/styles.ts';
import type { Worksheet } from '../../formats/xlsx/workbook.ts';
import type { Books, Target } from './books.ts';
import { activeByExcel } from './conditional_strict.ts';
import { type Formula, FormulaError, parseFormula, referencesOf, UnknownFormula } from './formula.ts';
import type { FormulaValue } from './formula_scalars.ts';
import { evaluate } from './formula_value.ts';
import { RawReader, type RawValue } from './raw_cell.ts';

/** Empty cells after which OSWorld stops looking through a range. */
const EMPTY_LIMIT = 50;
const BY_FORMULA = [
  'expression',
  'containsText',
  'notContainsText',
  'endsWith',
  'beginsWith',
  'containsErrors',
  'notContainsErrors',
];
const ABSOLUTE = /\$([A-Z]{1,3})\$(\d+)(?::\$([A-Z]{1,3})\$(\d+))?/g;

type Test = (value: NonNullable<RawValue>, at: Position) => boolean;

/**
 * Cells whose conditional format is on, with the style that it puts on, later ones over earlier ones. OSWorld gives a
 * formula the cell's value for its first reference (by name) and the values of ranges like `$A$1:$A$9` for the others;
 * takes an error for true; and tests a rule that it does not know by the one before. `strict` does as Excel.
 * Throws a DartError for formulas that are not known here.
 */
export function activeStyles(sheet: Worksheet, target: Target, books: Books): [string, DifferentialStyle | null][] {
  const { workbook } = target.book;
  const raw = new RawReader(workbook, books.isStrict);
  const value = (cell: string) => raw.value(target.name, cell);
  const formats = conditionalFormatsOf(sheet, workbook.styles);
  try {
    return books.isStrict ? activeByExcel(formats, sheet, value) : activeByOSWorld(formats, value);
  } catch (error) {
    if (!(error instanceof UnknownFormula)) throw error;
    throw books.error(
      `a conditional format of ${target.book.file.name} needs what is not known here: ${error.message}`,
    );
  }
}

function activeByOSWorld(
  formats: ConditionalFormat[],
  value: (cell: string) => RawValue,
): [string, DifferentialStyle | null][] {
  const active: [string, DifferentialStyle | null][] = [];
  let test: Test = () => false;
  for (const { ranges, rules } of formats) {
    for (const rule of rules) {
      const parsed = rule.formulas.map((text) => ({ formula: parsedOrNull(text), given: absoluteValues(text, value) }));
      const formulas = parsed.flatMap(({ formula, given }) => (formula === null ? [] : [{ formula, given }]));
      if (formulas.length < parsed.length) continue;
      const next = testOf(rule, formulas);
      if (next === null) continue;
      test = next === 'unknown' ? test : next;
      let empty = 0;
      for (const range of ranges) {
        for (const at of cellsIn(range)) {
          const found = value(nameOf(at));
          if (found === null) {
            empty += 1;
            if (empty > EMPTY_LIMIT) break;
          } else if (test(found, at)) {
            if (rule.formulas.length === 0) throw new Error(`a conditional format of type ${rule.type} has no formula`);
            active.push([nameOf(at), rule.style]);
          }
        }
      }
    }
  }
  return active;
}

function parsedOrNull(text: string): Formula | null {
  try {
    return parseFormula(text);
  } catch (error) {
    if (error instanceof UnknownFormula) throw error;
    return null;
  }
}

/** Values of the ranges that a formula writes with `$` throughout. A single such cell breaks OSWorld. */
function absoluteValues(text: string, value: (cell: string) => RawValue): FormulaValue[] {
  return [...text.matchAll(ABSOLUTE)].map(([, left, top, right, bottom]) => {
    if (right === undefined) throw new Error(`the cell $${left}$${top} in the formula ${text}`);
    return [...cellsIn(rangeOf(`${left}${top}:${right}${bottom}`))].map((cell) => value(nameOf(cell)));
  });
}

interface GivenFormula {
  formula: Formula;
  given: FormulaValue[];
}

/** How a rule tests a value; null where OSWorld leaves the rule out. */
function testOf(rule: ConditionalRule, formulas: GivenFormula[]): Test | 'unknown' | null {
  if (BY_FORMULA.includes(rule.type)) {
    const first = formulas[0];
    if (first === undefined) throw new Error(`a conditional format of type ${rule.type} has no formula`);
    return (value, at) => isTrue(bound(first.formula, [value, ...first.given], at));
  }
  if (rule.type !== 'cellIs') return 'unknown';
  const references = formulas.map(({ formula }) => bound(formula, [], { row: 1, column: 1 }));
  if (references.some((reference) => reference === undefined || Array.isArray(reference))) return null;
  return (value) => compares(rule.operator, value, references as FormulaValue[]);
}

/** The formula with values for its references, sorted by name; undefined where their number is another. */
function bound(formula: Formula, values: FormulaValue[], at: Position): FormulaValue | undefined {
  const names = referencesOf(formula).sort();
  if (names.length !== values.length) return undefined;
  return evaluate(formula, { value: (name) => values[names.indexOf(name)]!, at });
}

/** Python's truth of a formula's value: an error is text, and true; several values break OSWorld. */
function isTrue(value: FormulaValue | undefined): boolean {
  if (Array.isArray(value)) {
    if (value.length === 1) return isTrue(value[0]);
    throw new Error('the formula of a conditional format has several values');
  }
  return value instanceof FormulaError || Boolean(value);
}

/** Python's comparisons of the cell's value with one or two others; between different kinds nothing holds but "not". */
function compares(operator: string | null, value: NonNullable<RawValue>, references: FormulaValue[]): boolean {
  const [first, second] = references.map((one) => (one instanceof FormulaError ? one.name : one));
  if (operator === 'equal') return value === first;
  if (operator === 'notEqual') return value !== first;
  if (typeof first !== typeof value) return false;
  if (operator === 'lessThan') return value < first!;
  if (operator === 'lessThanOrEqual') return value <= first!;
  if (operator === 'greaterThan') return value > first!;
  if (operator === 'greaterThanOrEqual') return value >= first!;
  const other = second ?? first!;
  if (typeof other !== typeof value) return false;
  const [least, most] = first! < other ? [first!, other] : [other, first!];
  if (operator === 'between') return value >= least && value <= most;
  return operator === 'notBetween' && (value < least || value > most);
}
