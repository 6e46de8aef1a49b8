import type { Dim } from './types.ts';

/**
 * Arithmetic on extents of which some are only names. A product is written `a*b*8` with sorted names and the number
 * last, so that equal products are equal strings.
 */
function factors(dim: Dim): { symbols: string[]; number: number } {
  if (typeof dim === 'number') return { symbols: [], number: dim };
  const parts = dim.split('*');
  const last = Number(parts.at(-1));
  if (parts.length > 1 && Number.isInteger(last)) return { symbols: parts.slice(0, -1), number: last };
  return { symbols: parts, number: 1 };
}

function join(symbols: string[], number: number): Dim {
  if (symbols.length === 0) return number;
  const sorted = symbols.toSorted().join('*');
  return number === 1 ? sorted : `${sorted}*${number}`;
}

/** The extent of axes laid together: `[a, 2, 4]` → `a*8`. */
export function productOf(dims: readonly Dim[]): Dim {
  const parts = dims.map(factors);
  return join(
    parts.flatMap((part) => part.symbols),
    parts.reduce((product, part) => product * part.number, 1),
  );
}

/** `total / divisor`; a fresh name where it cannot be simplified. */
export function quotientOf(total: Dim, divisor: Dim): Dim {
  const top = factors(total);
  const bottom = factors(divisor);
  const rest = [...top.symbols];
  for (const symbol of bottom.symbols) {
    const at = rest.indexOf(symbol);
    if (at < 0) return `(${total}/${divisor})`;
    rest.splice(at, 1);
  }
  if (bottom.number === 0 || top.number % bottom.number !== 0) return `(${total}/${divisor})`;
  return join(rest, top.number / bottom.number);
}

/** The extent of parts laid one after the other: `[a, 2, 3]` → `(a+5)`. */
export function sumOf(dims: readonly Dim[]): Dim {
  const numbers = dims.filter((dim) => typeof dim === 'number').reduce((sum, dim) => sum + dim, 0);
  const names = dims.filter((dim) => typeof dim === 'string').toSorted();
  if (names.length === 0) return numbers;
  const [only] = names;
  if (names.length === 1 && numbers === 0 && only !== undefined) return only;
  return `(${[...names, ...(numbers === 0 ? [] : [numbers])].join('+')})`;
}

/** The shape that numpy broadcasting gives. A name meets a number greater than 1: the number is what it must be. */
export function broadcastShapes(a: readonly Dim[], b: readonly Dim[]): Dim[] {
  const rank = Math.max(a.length, b.length);
  return Array.from({ length: rank }, (_, i) => {
    const left = a[i - rank + a.length] ?? 1;
    const right = b[i - rank + b.length] ?? 1;
    if (left === 1) return right;
    if (right === 1) return left;
    return typeof left === 'number' ? left : right;
  });
}

/**
 * The axes of `result` along which a tensor of shape `from` was repeated by broadcasting. An extent that is only a
 * name is taken as not repeated.
 */
export function broadcastAxes(from: readonly Dim[], result: readonly Dim[]): number[] {
  const offset = result.length - from.length;
  return result.flatMap((extent, axis) => {
    if (axis < offset) return [axis];
    return from[axis - offset] === 1 && extent !== 1 ? [axis] : [];
  });
}

/** A possibly negative axis as 0..rank-1. */
export function axisOf(axis: number, rank: number): number {
  return axis < 0 ? axis + rank : axis;
}
