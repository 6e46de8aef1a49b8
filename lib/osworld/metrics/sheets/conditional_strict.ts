import type { ConditionalFormat, ConditionalRule } from '../../formats/xlsx/features.ts';
import { cellsIn, columnLetters, columnNumber, nameOf, type Position, rangeOf } from '../../formats/xlsx/ranges.ts';
import type { DifferentialStyle } from '../../formats/xlsx/styles.ts';
import type { Worksheet } from '../../formats/xlsx/workbook.ts';
import { type Formula, FormulaError, parseFormula, UnknownFormula } from './formula.ts';
import { compare, type FormulaValue, numberIn } from './formula_scalars.ts';
import { evaluate } from './formula_value.ts';
import type { RawValue } from './raw_cell.ts';

/**
 * Cells whose conditional format is on, as Excel has it: references move with the cell from the first of the range,
 * errors are not true, the rule of the least priority comes last and so over the others.
 */
export function activeByExcel(
  formats: ConditionalFormat[],
  sheet: Worksheet,
  value: (cell: string) => RawValue,
): [string, DifferentialStyle | null][] {
  const rules = formats.flatMap(({ ranges, rules: own }) => own.map((rule) => ({ ranges, rule })));
  return rules
    .sort((a, b) => b.rule.priority - a.rule.priority)
    .flatMap(({ ranges, rule }) => {
      const from = { row: Math.min(...ranges.map((r) => r.top)), column: Math.min(...ranges.map((r) => r.left)) };
      const formulas = rule.formulas.map(parseFormula);
      const cells = ranges.flatMap(({ left, top, right, bottom }) => [
        ...cellsIn({ left, top, right: Math.min(right, sheet.lastColumn), bottom: Math.min(bottom, sheet.lastRow) }),
      ]);
      return cells
        .filter((at) => isActive(rule, formulas, at, from, value))
        .map((at): [string, DifferentialStyle | null] => [nameOf(at), rule.style]);
    });
}

function isActive(
  rule: ConditionalRule,
  formulas: Formula[],
  at: Position,
  from: Position,
  value: (cell: string) => RawValue,
): boolean {
  const read = (name: string): FormulaValue => {
    const range = rangeOf(name);
    const cells = [...cellsIn(range)].map((cell) => value(nameOf(cell)));
    return name.includes(':') ? cells : (cells[0] ?? null);
  };
  const values = formulas.map((formula) => evaluate(moved(formula, at, from), { value: read, at }));
  if (rule.type === 'cellIs') return meets(rule.operator, value(nameOf(at)), values);
  if (values.length === 0) throw new UnknownFormula(`conditional formats of type ${rule.type}`);
  const [first] = values;
  return !(first instanceof FormulaError) && !Array.isArray(first) && Boolean(numberIn(first ?? null));
}

/** The formula with its references without `$` as far from where they were as the cell is from the range's first. */
function moved(formula: Formula, at: Position, from: Position): Formula {
  if (formula.kind === 'value') return formula;
  if (formula.kind !== 'reference') {
    return { ...formula, parts: formula.parts.map((part) => moved(part, at, from)) };
  }
  const name = formula.text.toUpperCase().replace(/(\$?)([A-Z]+)(\$?)(\d+)/g, (_, lock, column, rowLock, row) => {
    const letters = lock ? column : columnLetters(columnNumber(column) + at.column - from.column);
    return `${letters}${rowLock ? row : Number(row) + at.row - from.row}`;
  });
  return { ...formula, name };
}

function meets(operator: string | null, value: RawValue, [first, second]: FormulaValue[]): boolean {
  if (value === null || first === undefined || first instanceof FormulaError) return false;
  const order = compare(value, first);
  if (operator === 'equal') return order === 0;
  if (operator === 'notEqual') return order !== 0;
  if (operator === 'lessThan') return order < 0;
  if (operator === 'lessThanOrEqual') return order <= 0;
  if (operator === 'greaterThan') return order > 0;
  if (operator === 'greaterThanOrEqual') return order >= 0;
  const other = compare(value, second ?? first);
  const isBetween = Math.min(order, other) <= 0 && Math.max(order, other) >= 0;
  if (operator === 'between') return isBetween;
  if (operator === 'notBetween') return !isBetween;
  throw new UnknownFormula(`the operator ${operator}`);
}
