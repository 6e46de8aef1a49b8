import { type Formula, FormulaError, UnknownFormula } from './formula.ts';
import { FUNCTIONS, LAZY } from './formula_functions.ts';
import { compare, each, type FormulaScope, type FormulaValue, numberIn, textIn } from './formula_scalars.ts';

/** The value of a formula. Throws an UnknownFormula for functions that are not known here. */
export function evaluate(formula: Formula, scope: FormulaScope): FormulaValue {
  if (formula.kind === 'value') return formula.value;
  if (formula.kind === 'reference') return scope.value(formula.name);
  if (formula.kind === 'call') {
    const lazy = LAZY[formula.name];
    if (lazy !== undefined) return lazy(formula.parts, scope, evaluate);
    const call = FUNCTIONS[formula.name];
    if (call === undefined) throw new UnknownFormula(`the function ${formula.name}`);
    return call(
      formula.parts.map((part) => evaluate(part, scope)),
      scope,
    );
  }
  const parts = formula.parts.map((part) => evaluate(part, scope));
  return each(parts, (...scalars) => operate(formula.name, scalars));
}

function operate(name: string, parts: FormulaValue[]): FormulaValue {
  const error = parts.find((part) => part instanceof FormulaError);
  if (error !== undefined) return error;
  const [a, b] = parts;
  if (name === '&') return textIn(a!) + textIn(b!);
  if (['=', '<>', '<', '>', '<=', '>='].includes(name)) return holds(name, compare(a!, b!));
  const numbers = parts.map(numberIn);
  if (numbers.some((number) => number === null)) return new FormulaError('#VALUE!');
  const [x, y] = numbers as [number, number];
  if (name === 'negate') return -x;
  if (name === 'plus') return x;
  if (name === '%') return x / 100;
  if (name === '+') return x + y;
  if (name === '-') return x - y;
  if (name === '*') return x * y;
  if (name === '^') return x ** y;
  return y === 0 ? new FormulaError('#DIV/0!') : x / y;
}

function holds(name: string, order: number): boolean {
  if (name === '=') return order === 0;
  if (name === '<>') return order !== 0;
  if (name === '<') return order < 0;
  if (name === '>') return order > 0;
  return name === '<=' ? order <= 0 : order >= 0;
}
