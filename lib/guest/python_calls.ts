import { DartError } from '../errors.ts';

/** A Python value that a call can be given here. */
export type PythonValue = string | number | boolean | null | PythonValue[];

export interface PythonCall {
  /** Dotted name: `pyautogui.click`. */
  name: string;
  args: PythonValue[];
  keywords: Record<string, PythonValue>;
  /** The statement as it was written. */
  source: string;
}

const CONSTANTS: Record<string, PythonValue> = { True: true, False: false, None: null };
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', '\n': '' };

/**
 * Reads statements that are calls with literal arguments, apart by `;` or line ends. Imports and assignments of
 * constants (`pyautogui.FAILSAFE = False`) are skipped. Anything else is a DartError: nothing is ever evaluated.
 */
export function parseCalls(source: string): PythonCall[] {
  return new Reader(source).calls();
}

class Reader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  calls(): PythonCall[] {
    const calls: PythonCall[] = [];
    while (!this.atEnd()) {
      if (this.match(/[\s;]+|#[^\n]*/y) !== null) continue;
      const call = this.statement();
      if (call) calls.push(call);
      this.spaces();
      if (!this.atEnd() && this.match(/[;\n]|#[^\n]*/y) === null) throw this.problem();
    }
    return calls;
  }

  private statement(): PythonCall | null {
    if (this.match(/(import|from)\b[^;\n]*/y) !== null) return null;
    const start = this.at;
    const name = this.match(/[A-Za-z_]\w*(\.[A-Za-z_]\w*)*/y);
    if (name === null) throw this.problem();
    this.spaces();
    if (this.take('=')) {
      this.value();
      return null;
    }
    if (!this.take('(')) throw this.problem();
    const { args, keywords } = this.arguments();
    return { name, args, keywords, source: this.text.slice(start, this.at) };
  }

  private arguments(): Pick<PythonCall, 'args' | 'keywords'> {
    const args: PythonValue[] = [];
    const keywords: Record<string, PythonValue> = {};
    for (;;) {
      this.blank();
      if (this.take(')')) return { args, keywords };
      const keyword = this.match(/[A-Za-z_]\w*(?=\s*=[^=])/y);
      if (keyword !== null) {
        this.blank();
        this.take('=');
        keywords[keyword] = this.value();
      } else args.push(this.value());
      this.blank();
      if (!this.take(',') && this.text[this.at] !== ')') throw this.problem();
    }
  }

  private value(): PythonValue {
    this.blank();
    const number = this.match(/[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?/iy);
    if (number !== null) return Number(number);
    if (this.take('[')) return this.list(']');
    if (this.take('(')) return this.list(')');
    const raw = this.match(/r(?=["'])/iy) !== null;
    const quote = this.match(/"""|'''|"|'/y);
    if (quote !== null) return this.string(quote, raw);
    const name = this.match(/True|False|None/y);
    if (name === null) throw this.problem();
    return CONSTANTS[name] ?? null;
  }

  private list(end: string): PythonValue[] {
    const values: PythonValue[] = [];
    for (;;) {
      this.blank();
      if (this.take(end)) return values;
      values.push(this.value());
      this.blank();
      if (!this.take(',') && this.text[this.at] !== end) throw this.problem();
    }
  }

  private string(quote: string, raw: boolean): string {
    let value = '';
    while (!this.text.startsWith(quote, this.at)) {
      const char = this.text[this.at];
      if (char === undefined || (char === '\n' && quote.length === 1)) throw this.problem('a string has no end');
      this.at++;
      value += char === '\\' && !raw ? this.escape() : char;
    }
    this.at += quote.length;
    return value;
  }

  private escape(): string {
    const code = this.match(/x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}/iy);
    if (code !== null) {
      const point = Number.parseInt(code.slice(1), 16);
      if (point > 0x10ffff) throw this.problem('no such character');
      return String.fromCodePoint(point);
    }
    const char = this.text[this.at] ?? '';
    this.at++;
    return ESCAPES[char] ?? `\\${char}`;
  }

  private atEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Spaces within a line. */
  private spaces(): void {
    this.match(/[ \t]+/y);
  }

  /** Spaces and line ends: inside brackets they mean nothing. */
  private blank(): void {
    this.match(/\s+/y);
  }

  private take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found) this.at += found.length;
    return found === '' ? null : found;
  }

  private problem(what = 'only calls with literal arguments are understood'): DartError {
    const rest = this.text.slice(this.at, this.at + 30);
    return new DartError(`${what}, at "${rest}"`, { where: `character ${this.at + 1} of the Python code` });
  }
}
