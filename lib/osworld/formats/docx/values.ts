import { BrokenDocument } from '../broken.ts';
import { attributeOf, type Element } from '../xml.ts';

/** The namespace of WordprocessingML. */
export const W = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

/** English Metric Units, python-docx's measure of every length: 914,400 an inch. */
export const EMU_PER_POINT = 12700;
const EMU_PER_TWIP = 635;
const UNITS: Record<string, number> = { mm: 36000, cm: 360000, in: 914400, pt: 12700, pc: 152400, pi: 152400 };

/** A `w:` attribute that must be there. */
export function required(element: Element, name: string): string {
  const value = attributeOf(element, name, W);
  if (value === undefined) throw new BrokenDocument(`${element.nodeName} has no ${name}`);
  return value;
}

/** `w:val` of a switch such as `w:i`: on where it is missing. */
export function isOn(element: Element): boolean {
  const value = attributeOf(element, 'val', W);
  if (value === undefined) return true;
  return ['1', 'true', 'on'].includes(oneOf(value, ['1', 'true', 'on', '0', 'false', 'off'], element));
}

/** Throws a BrokenDocument where the value is none of `known`, as python-docx's enumerations do. */
export function oneOf(value: string, known: readonly string[], element: Element): string {
  if (known.includes(value)) return value;
  throw new BrokenDocument(`${element.nodeName} is ${JSON.stringify(value)}, not ${known.join(', ')}`);
}

/** Twentieths of a point, or a number with its unit, in EMU. `isSigned` measures may be fractions. */
export function twips(text: string, isSigned: boolean): number {
  if (/[imp]/.test(text)) return withUnit(text);
  return (isSigned ? roundHalfEven(decimal(text)) : whole(text)) * EMU_PER_TWIP;
}

/** Half points, or a number with its unit, in EMU. */
export function halfPoints(text: string): number {
  return /[mnp]/.test(text) ? withUnit(text) : Math.trunc((whole(text) / 2) * EMU_PER_POINT);
}

/** A whole number as Python's `int` reads it. */
export function whole(text: string): number {
  if (/^\s*[+-]?\d+\s*$/.test(text)) return Number(text);
  throw new BrokenDocument(`${JSON.stringify(text)} is no whole number`);
}

function decimal(text: string): number {
  if (/^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(text)) return Number(text);
  throw new BrokenDocument(`${JSON.stringify(text)} is no number`);
}

function withUnit(text: string): number {
  const factor = UNITS[text.slice(-2)];
  if (factor === undefined) throw new BrokenDocument(`${JSON.stringify(text)} is no length`);
  return roundHalfEven(decimal(text.slice(0, -2)) * factor);
}

/** Python's `round`. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
