/**
 * Checks of arguments before they reach C++, which checks types and lengths of arrays itself. One sentence style:
 * "Expected X for NAME but received V".
 */
import { nearest } from './nearest.ts';

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'symbol') return 'a symbol';
  if (typeof value === 'function') return 'a function';
  if (ArrayBuffer.isView(value)) return showView(value);
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}

function showView(view: ArrayBufferView): string {
  const kind = view.constructor.name;
  if (isShared(view)) return `${kind} over a SharedArrayBuffer`;
  return isDetached(view) ? `${kind} whose buffer is detached` : `${kind} of length ${(view as Float32Array).length}`;
}

/** Memory that other threads may change at any time. */
export function isShared(view: ArrayBufferView): boolean {
  return Object.prototype.toString.call(view.buffer) === '[object SharedArrayBuffer]';
}

/** True where the view's buffer was transferred away. Node 20 has no property for it, but a new view is refused. */
export function isDetached(view: ArrayBufferView): boolean {
  if (view.buffer.byteLength > 0) return false;
  try {
    return new Uint8Array(view.buffer).length > 0;
  } catch {
    return true;
  }
}

/** Throws the TypeError that says what was expected. */
export function refuse(expected: string, name: string, value: unknown): never {
  throw new TypeError(`Expected ${expected} for ${name} but received ${show(value)}`);
}

/** An object, all of whose properties are known; a near miss is told the name that was probably meant. */
export function checkOptions(value: unknown, what: string, known: Readonly<Record<string, unknown>>): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) {
    refuse('an object', what, value);
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(known, name)) continue;
    const names = Object.keys(known);
    const near = nearest(name, names);
    const expected = near === undefined ? `one of ${names.join(', ')}` : near;
    throw new TypeError(`Expected ${expected} among the properties of ${what} but received ${show(name)}`);
  }
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

/** A safe integer from `min` to `max`. */
export function checkInteger(value: unknown, name: string, min: number, max = Infinity): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  return refuse(max === Infinity ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`, name, value);
}

/** The place of `value` in `choices`, which is its number in the C interface. */
export function checkChoice<T extends string>(value: T, name: string, choices: readonly T[]): number {
  const place = choices.indexOf(value);
  return place >= 0 ? place : refuse(`one of ${choices.join(', ')}`, name, value);
}
