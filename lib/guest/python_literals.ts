import { DartError } from '../errors.ts';
import { readEscape } from './python_escapes.ts';

/** A Python value that is written out: no expression, nothing that would have to be evaluated. */
export type PythonValue = string | number | boolean | null | PythonValue[] | PythonDict;
/** Without a prototype, so that no key means anything but itself. */
export interface PythonDict {
  [key: string]: PythonValue;
}

/** `true`, `false` and `null` are JSON's: a JSON text is read as well as a Python literal. */
const CONSTANTS: Readonly<Record<string, PythonValue>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
};
const MAX_DEPTH = 32;

/**
 * Reads one literal: numbers, strings, lists, tuples and dictionaries of Python, or JSON.
 * @throws DartError that names the place, for anything else and for text behind the literal.
 */
export function parseLiteral(source: string): PythonValue {
  return new LiteralReader(source).whole();
}

/** Walks over a text from left to right and looks at each character a bounded number of times. */
export class LiteralReader {
  protected at = 0;
  protected readonly text: string;
  /** Names that stand for a value. */
  protected readonly names = new Map<string, PythonValue>(Object.entries(CONSTANTS));
  /** What a message says where something else stands. */
  protected expected = 'only numbers, texts, lists and dictionaries are understood';
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  whole(): PythonValue {
    const value = this.value();
    this.blank();
    if (!this.atEnd()) throw this.problem();
    return value;
  }

  protected value(): PythonValue {
    this.blank();
    const number = this.match(/[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?![\w.])/iy);
    if (number !== null) return Number(number);
    if (this.take('[')) return this.nested(() => this.items(']').values);
    if (this.take('(')) return this.nested(() => this.group());
    if (this.take('{')) return this.nested(() => this.dict());
    if (this.atString()) return this.strings();
    const start = this.at;
    const name = this.match(/[A-Za-z_]\w*/y);
    const value = name === null ? undefined : this.names.get(name);
    if (value !== undefined) return value;
    this.at = start;
    throw this.problem();
  }

  protected atString(): boolean {
    return this.peek(/r?["']/iy);
  }

  /** String literals side by side within brackets are one string, as in Python. */
  protected strings(): string {
    let value = '';
    do {
      const raw = this.match(/r/iy) !== null;
      value += this.string(this.match(/"""|'''|"|'/y) ?? '', raw);
      if (this.depth > 0) this.blank();
    } while (this.depth > 0 && this.atString());
    return value;
  }

  protected nested<T>(read: () => T): T {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw this.problem('too many brackets inside each other');
    const value = read();
    this.depth -= 1;
    return value;
  }

  /** `(value)` is the value; `(value,)` and `(a, b)` are lists. */
  private group(): PythonValue {
    const { values, comma } = this.items(')');
    return values.length === 1 && !comma ? values[0]! : values;
  }

  /** Values up to the closing bracket, and whether a comma stood before it. */
  private items(end: string): { values: PythonValue[]; comma: boolean } {
    const values: PythonValue[] = [];
    let comma = false;
    for (;;) {
      this.blank();
      if (this.take(end)) return { values, comma };
      values.push(this.value());
      comma = this.separator(end);
    }
  }

  private dict(): PythonDict {
    const values: PythonDict = Object.create(null);
    for (;;) {
      this.blank();
      if (this.take('}')) return values;
      if (!this.atString()) throw this.problem();
      const key = this.strings();
      if (!this.take(':')) throw this.problem();
      values[key] = this.value();
      this.separator('}');
    }
  }

  /** A comma (true), or nothing where the bracket closes. */
  protected separator(end: string): boolean {
    this.blank();
    if (this.take(',')) return true;
    if (this.text[this.at] !== end) throw this.problem();
    return false;
  }

  private string(quote: string, raw: boolean): string {
    const start = this.at - quote.length;
    let value = '';
    while (!this.text.startsWith(quote, this.at)) {
      const char = this.text[this.at];
      if (char === undefined || (char === '\n' && quote.length === 1)) {
        this.at = start;
        throw this.problem('a string has no end');
      }
      if (char !== '\\') {
        value += char;
        this.at += 1;
      } else if (raw) {
        value += this.text.slice(this.at, this.at + 2);
        this.at += 2;
      } else {
        const [escaped, length] = readEscape(this.text, this.at);
        value += escaped;
        this.at += length;
      }
    }
    this.at += quote.length;
    return value;
  }

  protected atEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Spaces within a line. */
  protected spaces(): void {
    this.match(/[ \t]+/y);
  }

  /** Spaces and line ends: inside brackets they mean nothing. */
  protected blank(): void {
    this.match(/\s+/y);
  }

  protected take(char: string): boolean {
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  protected peek(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    return pattern.test(this.text);
  }

  protected match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0] ?? null;
    if (found) this.at += found.length;
    return found === '' ? null : found;
  }

  protected problem(what = this.expected): DartError {
    const rest = this.text.slice(this.at, this.at + 30);
    return new DartError(`${what}, at ${JSON.stringify(rest)}`, {
      where: `character ${this.at + 1} of the code`,
    });
  }
}
