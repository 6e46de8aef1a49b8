/**
 * Checks of arguments before they reach C++, which checks types and lengths of arrays itself. One sentence style:
 * "Expected X for NAME but received V".
 */

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (ArrayBuffer.isView(value)) return value.constructor.name;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

/** Throws the TypeError that says what was expected. */
export function refuse(expected: string, name: string, value: unknown): never {
  throw new TypeError(`Expected ${expected} for ${name} but received ${show(value)}`);
}

/** A finite number from `min` to `max`. */
export function checkNumber(value: unknown, name: string, min = -Infinity, max = Infinity): number {
  if (typeof value === 'number' && Number.isFinite(value) && value >= min && value <= max) return value;
  const range = min === -Infinity ? '' : max === Infinity ? ` of at least ${min}` : ` from ${min} to ${max}`;
  return refuse(`a number${range}`, name, value);
}

/** A finite number above 0. */
export function checkPositive(value: unknown, name: string): number {
  const number = checkNumber(value, name);
  return number > 0 ? number : refuse('a positive number', name, value);
}

/** A safe integer of at least `min`. */
export function checkInteger(value: unknown, name: string, min: number): number {
  return Number.isSafeInteger(value) && (value as number) >= min
    ? (value as number)
    : refuse(`an integer of at least ${min}`, name, value);
}

/** The place of `value` in `choices`, which is its number in the C interface. */
export function checkChoice<T extends string>(value: T, name: string, choices: readonly T[]): number {
  const place = choices.indexOf(value);
  return place >= 0 ? place : refuse(`one of ${choices.join(', ')}`, name, value);
}

/** Every entry below `limit`; entries below 0 have a meaning of their own when `allowNegative`. */
export function checkIndices(values: Int32Array, name: string, limit: number, allowNegative = false): void {
  if (!(values instanceof Int32Array)) refuse('Int32Array', name, values);
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (value >= limit || (value < 0 && !allowNegative)) refuse(`an index below ${limit}`, `${name}[${i}]`, value);
  }
}

/** Offsets that start at 0, never fall, and end at `end`. Returns how many pieces they cut. */
export function checkOffsets(offsets: Int32Array, name: string, end: number): number {
  if (!(offsets instanceof Int32Array) || offsets.length === 0) refuse('a non-empty Int32Array', name, offsets);
  if (offsets[0] !== 0) refuse('0', `${name}[0]`, offsets[0]);
  for (let i = 1; i < offsets.length; i++) {
    if (offsets[i]! < offsets[i - 1]!) refuse(`at least ${offsets[i - 1]}`, `${name}[${i}]`, offsets[i]);
  }
  const last = offsets.length - 1;
  if (offsets[last] !== end) refuse(`${end}`, `${name}[${last}]`, offsets[last]);
  return last;
}
