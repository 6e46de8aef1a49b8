/** Value of a cell for a formula: a number, a text, or nothing. */
export type CellValue = number | string | null;

/** Looks a cell up by column and row, both from 0. */
export type CellLookup = (column: number, row: number) => CellValue;

/** Columns A to H. */
export const MAX_COLUMNS = 8;
export const MAX_ROWS = 40;

const FUNCTIONS: Record<string, (values: number[]) => number> = {
  sum: (v) => v.reduce((a, b) => a + b, 0),
  average: (v) => v.reduce((a, b) => a + b, 0) / v.length,
  min: (v) => (v.length > 0 ? Math.min(...v) : 0),
  max: (v) => (v.length > 0 ? Math.max(...v) : 0),
  count: (v) => v.length,
};

/** A formula without a value; the cell shows `#ERR`. */
export class FormulaError extends Error {}

/** Value of a formula without its `=`: `A1+2*B1`, `sum(A1:A3)`. Throws FormulaError when it has none. */
export function evaluateFormula(source: string, lookup: CellLookup): number {
  const parser = new FormulaParser(source.toLowerCase(), lookup);
  const value = parser.expression(0);
  parser.end();
  if (!Number.isFinite(value)) throw new FormulaError('no finite value');
  return value;
}

/** Deeper parentheses than this are refused: what a policy types must not exhaust the stack. */
const MAX_DEPTH = 40;

class FormulaParser {
  private at = 0;
  private readonly text: string;
  private readonly lookup: CellLookup;

  constructor(text: string, lookup: CellLookup) {
    this.text = text.replaceAll(' ', '');
    this.lookup = lookup;
  }

  expression(depth: number): number {
    if (depth > MAX_DEPTH) throw new FormulaError('too deep');
    let value = this.term(depth);
    for (;;) {
      if (this.take('+')) value += this.term(depth);
      else if (this.take('-')) value -= this.term(depth);
      else return value;
    }
  }

  end(): void {
    if (this.at < this.text.length) throw new FormulaError('text left over');
  }

  private term(depth: number): number {
    let value = this.factor(depth);
    for (;;) {
      if (this.take('*')) value *= this.factor(depth);
      else if (this.take('/')) value /= this.factor(depth);
      else return value;
    }
  }

  private factor(depth: number): number {
    if (depth > MAX_DEPTH) throw new FormulaError('too deep');
    if (this.take('-')) return -this.factor(depth + 1);
    if (this.take('(')) {
      const value = this.expression(depth + 1);
      this.need(')');
      return value;
    }
    const number = this.match(/\d+(\.\d+)?|\.\d+/y);
    if (number !== null) return Number(number);
    const name = this.match(/[a-z]+(?=\()/y);
    if (name !== null) return this.call(name, depth);
    const cell = this.cell();
    return numberOf(this.lookup(cell.column, cell.row));
  }

  private call(name: string, depth: number): number {
    const fold = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!fold) throw new FormulaError(`no function ${name}`);
    this.need('(');
    const values: number[] = [];
    do values.push(...this.argument(depth));
    while (this.take(',') || this.take(';'));
    this.need(')');
    return fold(values);
  }

  private argument(depth: number): number[] {
    const range = this.match(/[a-h]\d+:[a-h]\d+/y);
    if (range === null) return [this.expression(depth + 1)];
    const [from, to] = range.split(':').map(cellPlace);
    if (!from || !to) throw new FormulaError('bad range');
    const values: number[] = [];
    for (let row = Math.min(from.row, to.row); row <= Math.max(from.row, to.row); row++) {
      for (let column = Math.min(from.column, to.column); column <= Math.max(from.column, to.column); column++) {
        const value = this.lookup(column, row);
        if (typeof value === 'number') values.push(value);
      }
    }
    return values;
  }

  private cell(): { column: number; row: number } {
    const place = cellPlace(this.match(/[a-h]\d+/y) ?? '');
    if (!place) throw new FormulaError('no cell');
    return place;
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found !== null) this.at += found.length;
    return found;
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private need(char: string): void {
    if (!this.take(char)) throw new FormulaError(`${char} expected`);
  }
}

function numberOf(value: CellValue): number {
  if (typeof value === 'string') throw new FormulaError('text is no number');
  return value ?? 0;
}

/** Column and row, from 0, of a cell name such as `b3`; null when it is none. */
export function cellPlace(name: string): { column: number; row: number } | null {
  const match = /^([a-h])(\d{1,2})$/i.exec(name);
  if (!match) return null;
  const column = (match[1] ?? 'a').toLowerCase().charCodeAt(0) - 97;
  const row = Number(match[2]) - 1;
  return row >= 0 && row < MAX_ROWS ? { column, row } : null;
}

/** Name of the cell at a column and row from 0: `B3`. */
export function cellName(column: number, row: number): string {
  return `${String.fromCharCode(65 + column)}${row + 1}`;
}
