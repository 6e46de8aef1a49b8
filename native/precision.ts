import { checkChoice } from './check.ts';

/** What the 16 bits of a Uint16Array stand for: the upper half of an f32, or IEEE 754 half precision. */
export type HalfPrecision = 'bf16' | 'f16';

const TYPES = ['f32', 'bf16', 'f16'] as const;

/** Number of a 16-bit type in the C interface (dart_type). */
export function halfType(precision: HalfPrecision = 'bf16', name = 'precision'): number {
  return 1 + checkChoice(precision, name, TYPES.slice(1) as HalfPrecision[]);
}

/** True for NaN and Infinity, false for finite numbers and -Infinity: logits may be excluded, but not lost. */
export function isBroken(values: Float32Array | Uint16Array, index: number, precision: HalfPrecision): boolean {
  const value = values[index]!;
  if (values instanceof Float32Array) return !Number.isFinite(value) && value !== -Infinity;
  const exponent = precision === 'f16' ? 0x7c00 : 0x7f80;
  return (value & exponent) === exponent && value !== (0x8000 | exponent);
}

/** False for NaN and both infinities. */
export function isFiniteAt(values: Float32Array | Uint16Array, index: number, precision: HalfPrecision): boolean {
  if (values instanceof Float32Array) return Number.isFinite(values[index]);
  const exponent = precision === 'f16' ? 0x7c00 : 0x7f80;
  return (values[index]! & exponent) !== exponent;
}

/** NaN or Infinity, for a number of which `isBroken` is true. */
export function brokenName(values: Float32Array | Uint16Array, index: number, precision: HalfPrecision): string {
  const value = values[index]!;
  if (values instanceof Float32Array) return String(value);
  return (value & (precision === 'f16' ? 0x3ff : 0x7f)) === 0 ? 'Infinity' : 'NaN';
}
