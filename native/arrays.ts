/** Checks of what stands in typed arrays, and of how they lie in memory. */
import { isDetached, isShared, refuse } from './check.ts';

interface ArrayKinds {
  Float32Array: Float32Array;
  Float64Array: Float64Array;
  Int32Array: Int32Array;
  Uint8Array: Uint8Array;
}

const KINDS = { Float32Array, Float64Array, Int32Array, Uint8Array };

/** A typed array of the kind, and of the length if one is given, over memory that is attached and not shared. */
export function checkArray<K extends keyof ArrayKinds>(
  value: unknown,
  name: string,
  kind: K,
  length?: number,
): ArrayKinds[K] {
  const view = value as ArrayKinds[K];
  const expected = length === undefined ? kind : `${kind} of length ${length}`;
  if (!(value instanceof KINDS[kind])) refuse(expected, name, value);
  if (isShared(view)) refuse('an array over an ArrayBuffer', name, value);
  if (isDetached(view)) refuse('an attached array', name, value);
  if (length !== undefined && view.length !== length) refuse(expected, name, value);
  return view;
}

/** The same for an array that may be absent. */
export function checkOptionalArray<K extends keyof ArrayKinds>(
  value: unknown,
  name: string,
  kind: K,
  length?: number,
): ArrayKinds[K] | null {
  return value === undefined || value === null ? null : checkArray(value, name, kind, length);
}

/** Every entry is finite, apart from those that `counts` leaves out; the first that is not is named by its index. */
export function checkFinite(
  values: Float32Array | Float64Array,
  name: string,
  counts: (index: number) => boolean = () => true,
): void {
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i]) && counts(i)) refuse('a finite number', `${name}[${i}]`, values[i]);
  }
}

/** Every entry below `limit`; entries below 0 have a meaning of their own when `allowNegative`. */
export function checkIndices(value: unknown, name: string, limit: number, allowNegative = false): Int32Array {
  const values = checkArray(value, name, 'Int32Array');
  for (let i = 0; i < values.length; i++) {
    const index = values[i]!;
    if (index >= limit || (index < 0 && !allowNegative)) refuse(`an index below ${limit}`, `${name}[${i}]`, index);
  }
  return values;
}

/** Offsets that start at 0, never fall, and end at `end`. Returns how many pieces they cut. */
export function checkOffsets(value: unknown, name: string, end: number): number {
  const offsets = checkArray(value, name, 'Int32Array');
  if (offsets.length === 0) refuse('a non-empty Int32Array', name, value);
  if (offsets[0] !== 0) refuse('0', `${name}[0]`, offsets[0]);
  for (let i = 1; i < offsets.length; i++) {
    if (offsets[i]! < offsets[i - 1]!) refuse(`at least ${offsets[i - 1]}`, `${name}[${i}]`, offsets[i]);
  }
  const last = offsets.length - 1;
  if (offsets[last] !== end) refuse(`${end}`, `${name}[${last}]`, offsets[last]);
  return last;
}

/** True where the two arrays have a byte in common. */
export function overlaps(a: ArrayBufferView, b: ArrayBufferView): boolean {
  if (a.buffer !== b.buffer || a.byteLength === 0 || b.byteLength === 0) return false;
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}

/** An array of a call by name; null or anything else that is no array lies nowhere. */
type Named = readonly [name: string, array: unknown];

/**
 * No array that a call writes has a byte in common with another of its arrays; arrays that are only read may be one.
 * @throws TypeError naming the two, in the order in which they are given: the second is the one that is refused.
 */
export function checkApart(arrays: readonly Named[], isWritten: (name: string) => boolean): void {
  const places = arrays.flatMap(([name, view], order) => (ArrayBuffer.isView(view) ? [{ name, view, order }] : []));
  const memories = new Map<ArrayBufferLike, typeof places>();
  for (const place of places) {
    const one = memories.get(place.view.buffer);
    if (one) one.push(place);
    else memories.set(place.view.buffer, [place]);
  }
  for (const one of memories.values()) {
    // By beginnings: an array meets one before it exactly if it meets the one that reaches farthest.
    one.sort((a, b) => a.view.byteOffset - b.view.byteOffset);
    let farthest: (typeof places)[number] | undefined;
    let farthestWritten: typeof farthest;
    for (const place of one) {
      const written = isWritten(place.name);
      const other = written ? farthest : farthestWritten;
      if (other && overlaps(other.view, place.view)) refuseBoth(other, place);
      if (!farthest || end(place.view) > end(farthest.view)) farthest = place;
      if (written && (!farthestWritten || end(place.view) > end(farthestWritten.view))) farthestWritten = place;
    }
  }
}

const end = (view: ArrayBufferView) => view.byteOffset + view.byteLength;

function refuseBoth(...both: { name: string; view: ArrayBufferView; order: number }[]): never {
  const [first, second] = both.sort((a, b) => a.order - b.order);
  return refuse(`memory apart from ${first!.name}`, second!.name, second!.view);
}

/** True where both are the same elements of the same memory. */
export function isSame(a: ArrayBufferView, b: ArrayBufferView): boolean {
  return (
    a.buffer === b.buffer &&
    a.byteOffset === b.byteOffset &&
    a.byteLength === b.byteLength &&
    a.constructor === b.constructor
  );
}

/**
 * Watches arrays that a promised call works on: they must not be resizable, and still be there when it is done.
 * @returns what is to be called then; it throws a TypeError naming the array that was transferred away.
 */
export function holdArrays(arrays: Readonly<Record<string, ArrayBufferView | null | undefined>>): () => void {
  const held = Object.entries(arrays).filter((entry): entry is [string, ArrayBufferView] =>
    ArrayBuffer.isView(entry[1]),
  );
  for (const [name, view] of held) {
    const { resizable } = view.buffer as { resizable?: boolean };
    if (resizable) refuse('an array whose buffer cannot be resized', name, view);
  }
  return () => {
    for (const [name, view] of held)
      if (isDetached(view)) refuse('an array that stays until the call is done', name, view);
  };
}
