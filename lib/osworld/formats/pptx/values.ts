import { attributeOf, type Element } from '../xml.ts';

/** Attribute values as python-pptx reads them: what it refuses is an Error here. */

/** English Metric Units: 914,400 an inch, 360,000 a centimetre. */
export const EMU_PER_INCH = 914_400;
const EMU_PER_UNIT: Record<string, number> = {
  mm: 36_000,
  cm: 360_000,
  in: EMU_PER_INCH,
  pt: 12_700,
  pc: 152_400,
  pi: 152_400,
};

/** An attribute that must be there. */
export function required(element: Element, name: string): string {
  const value = attributeOf(element, name);
  if (value === undefined) throw new Error(`<${element.nodeName}> has no ${name}`);
  return value;
}

/** A whole number. */
export function integer(text: string): number {
  if (!/^\s*[+-]?\d+\s*$/.test(text)) throw new Error(`${JSON.stringify(text)} is not a whole number`);
  return Number(text);
}

/** EMU, from EMU or from a length with its unit (`2.5cm`). */
export function coordinate(text: string): number {
  const [, number, unit] = /^\s*([+-]?[\d.]+)(mm|cm|in|pt|pc|pi)$/.exec(text) ?? [];
  return number === undefined ? integer(text) : Math.round(Number(number) * EMU_PER_UNIT[unit!]!);
}

/** `1`, `0`, `true` or `false`; null where the attribute is missing. */
export function flag(element: Element, name: string): boolean | null {
  const value = attributeOf(element, name);
  if (value === undefined) return null;
  if (!['1', '0', 'true', 'false'].includes(value)) throw new Error(`${name}="${value}" is not a boolean`);
  return value === '1' || value === 'true';
}

/** An attribute that is one of `names`; `fallback` where it is missing. */
export function oneOf<T>(element: Element, name: string, names: readonly string[], fallback: T): string | T {
  const value = attributeOf(element, name);
  if (value === undefined) return fallback;
  if (!names.includes(value)) throw new Error(`${name}="${value}" is none of ${names.join(', ')}`);
  return value;
}

/** Red, green and blue, 0..255. */
export type Rgb = [red: number, green: number, blue: number];

/** `FF8000` as its three parts. */
export function rgb(text: string): Rgb {
  const parts = [text.slice(0, 2), text.slice(2, 4), text.slice(4)];
  if (!parts.every((part) => /^[0-9a-fA-F]{1,2}$/.test(part))) throw new Error(`"${text}" is not a colour`);
  return parts.map((part) => Number.parseInt(part, 16)) as Rgb;
}

/** True for two equal colours, or none twice. */
export function isSameRgb(a: Rgb | null, b: Rgb | null): boolean {
  return a === b || (a !== null && b !== null && a.every((part, index) => part === b[index]));
}
