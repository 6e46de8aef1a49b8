import type { Moment } from '../../formats/xlsx/dates.ts';

/** A value as OSWorld's Python holds it; null is NaN or None. */
export type PythonValue = number | bigint | string | boolean | Moment | null;

/** True for a date, a time or a span. */
export function isMoment(value: unknown): value is Moment {
  return typeof value === 'object' && value !== null && 'kind' in value && 'ms' in value;
}

/** Python's `==`, where a missing value equals a missing one: `True == 1 == 1.0`, dates by kind and time. */
export function same(a: PythonValue, b: PythonValue): boolean {
  if (isMoment(a)) return isMoment(b) && a.kind === b.kind && a.ms === b.ms;
  const [left, right] = [a, b].map((value) => (typeof value === 'boolean' ? Number(value) : value));
  if (typeof left === 'string' || typeof right === 'string' || left === null || right === null) return left === right;
  // biome-ignore lint/suspicious/noDoubleEquals: a number and a bigint of one value are equal.
  return left == right;
}

/** A float as Python prints it: `5.0`, `1e+16`, `1e-05`. */
export function showFloat(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const [digits, exponent] = value.toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (value !== 0 && (power < -4 || power >= 16)) {
    return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  if (Number.isInteger(value)) return `${value}.0`;
  return power >= -4 && Math.abs(value) < 1e-6 ? value.toFixed(20).replace(/0+$/, '') : String(value);
}

const BLANKS = '\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const AROUND = new RegExp(`^[${BLANKS}]+|[${BLANKS}]+$`, 'g');

/** Python's `str.strip()`: it knows a few blanks that JavaScript does not, and keeps a byte order mark. */
export function strip(text: string): string {
  return text.replace(AROUND, '');
}

/** `str.lstrip(letters)`. */
export function stripStart(text: string, letters: string): string {
  const parts = [...text];
  const start = parts.findIndex((letter) => !letters.includes(letter));
  return start < 0 ? '' : parts.slice(start).join('');
}

/** `str.rstrip(letters)`. */
export function stripEnd(text: string, letters: string): string {
  const parts = [...text];
  const end = parts.findLastIndex((letter) => !letters.includes(letter));
  return parts.slice(0, end + 1).join('');
}

/** Where `str.splitlines()` ends a line, line feeds among others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: three of Python's line ends are control characters.
const LINE_ENDS = /[\n\v\f\x1c-\x1e\x85\u2028\u2029]/;

/** Python's `str.splitlines()` on text that was read with universal line ends. */
export function splitLines(text: string): string[] {
  const lines = text.replace(/\r\n?/g, '\n').split(LINE_ENDS);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
