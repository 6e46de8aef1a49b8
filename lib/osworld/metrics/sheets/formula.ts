/** Formulas of conditional formats: a parser for what people write there (ECMA-376 part 1, 18.17). */

export type Formula =
  | { kind: 'value'; value: number | string | boolean | FormulaError }
  /** A cell or a range by its name without `$`, as `E2` or `E2:E5`; `text` is as written. */
  | { kind: 'reference'; name: string; text: string }
  | { kind: 'call'; name: string; parts: Formula[] }
  | { kind: 'operator'; name: string; parts: Formula[] };

/** `#VALUE!` and its like: a value that spreads. */
export class FormulaError {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** A formula that Excel might know and this reader does not. */
export class UnknownFormula extends Error {}

const TOKEN =
  /\s*(?:("(?:[^"]|"")*")|(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)|(#[A-Z0-9/]+[!?]?)|(\$?[A-Za-z]{1,3}\$?\d+(?::\$?[A-Za-z]{1,3}\$?\d+)?(?![\w.(!]))|([A-Za-z_][\w.]*)|(<>|<=|>=|[-+*/^&=<>%(),;]))/y;

type Token = { kind: 'text' | 'number' | 'error' | 'reference' | 'name' | 'sign' | 'end'; text: string };
const KINDS = ['text', 'number', 'error', 'reference', 'name', 'sign'] as const;
const POWERS: Record<string, number> = {
  '=': 1,
  '<>': 1,
  '<': 1,
  '>': 1,
  '<=': 1,
  '>=': 1,
  '&': 2,
  '+': 3,
  '-': 3,
  '*': 4,
  '/': 4,
  '^': 5,
};

/** Parses a formula without its `=`. Throws an Error where it is none, an UnknownFormula for names and other sheets. */
export function parseFormula(text: string): Formula {
  const tokens = tokensOf(text);
  let at = 0;
  const peek = () => tokens[at]!;
  const take = (sign: string) => {
    if (peek().kind !== 'sign' || peek().text !== sign) throw broken(text, `"${sign}" is missing`);
    at += 1;
  };
  const is = (sign: string) => peek().kind === 'sign' && peek().text === sign;

  const expression = (least: number): Formula => {
    let left = prefix();
    for (;;) {
      const power = peek().kind === 'sign' ? (POWERS[peek().text] ?? 0) : 0;
      if (power <= least) return left;
      const name = peek().text;
      at += 1;
      left = { kind: 'operator', name, parts: [left, expression(power)] };
    }
  };
  const prefix = (): Formula => {
    if (is('-') || is('+')) {
      const name = is('-') ? 'negate' : 'plus';
      at += 1;
      return { kind: 'operator', name, parts: [prefix()] };
    }
    let item = primary();
    while (is('%')) {
      at += 1;
      item = { kind: 'operator', name: '%', parts: [item] };
    }
    return item;
  };
  const primary = (): Formula => {
    const token = peek();
    if (is('(')) {
      at += 1;
      const inner = expression(0);
      take(')');
      return inner;
    }
    at += 1;
    if (token.kind === 'number') return { kind: 'value', value: Number(token.text) };
    if (token.kind === 'text') return { kind: 'value', value: token.text.slice(1, -1).replaceAll('""', '"') };
    if (token.kind === 'error') return { kind: 'value', value: new FormulaError(token.text) };
    if (token.kind === 'reference') {
      return { kind: 'reference', name: token.text.replaceAll('$', '').toUpperCase(), text: token.text };
    }
    if (token.kind === 'name') return named(token.text);
    throw broken(text, 'a value is missing');
  };
  const named = (name: string): Formula => {
    if (!is('(')) {
      if (/^(true|false)$/i.test(name)) return { kind: 'value', value: name.toLowerCase() === 'true' };
      throw new UnknownFormula(`the name ${name} in the formula ${text}`);
    }
    take('(');
    const parts: Formula[] = [];
    while (!is(')')) {
      parts.push(is(',') ? { kind: 'value', value: 0 } : expression(0));
      if (is(',') || is(';')) at += 1;
      else if (!is(')')) throw broken(text, '")" is missing');
    }
    take(')');
    return { kind: 'call', name: name.toUpperCase().replace(/^_XLFN\./, ''), parts };
  };

  const formula = expression(0);
  if (peek().kind !== 'end') throw broken(text, `it goes on with "${peek().text}"`);
  return formula;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) {
      if (/[!'[\]{}]/.test(text.slice(start))) throw new UnknownFormula(`a part of the formula ${text}`);
      throw broken(text, `"${text.slice(start)}" is not understood`);
    }
    const kind = KINDS.findIndex((_, index) => match[index + 1] !== undefined);
    tokens.push({ kind: KINDS[kind]!, text: match[kind + 1]! });
  }
  return [...tokens, { kind: 'end', text: '' }];
}

function broken(formula: string, what: string): Error {
  return new Error(`the formula ${formula} cannot be read: ${what}`);
}

/** The distinct references of a formula by name. */
export function referencesOf(formula: Formula): string[] {
  if (formula.kind === 'reference') return [formula.name];
  if (formula.kind === 'value') return [];
  return [...new Set(formula.parts.flatMap(referencesOf))];
}
