import type { Shape } from '../../formats/pptx/shape.ts';
import { strip } from '../sheets/python.ts';
import type { Examine } from './examine.ts';

/** Texts and heights (EMU) that OSWorld's checks have fixed for the one task that each was written for. */
const TITLE_TO_MOVE = 'Product Comparison';
const TEXT_THAT_MAY_MOVE = 'Elaborate on what you want to discuss.';
const BOTTOM = 3_600_000;
const RIGHT = 4_320_000;
const TOP = 1_980_000;

/**
 * Whether two shapes of slide `number` (from 1) stand where they should.
 * Throws an Error where a place that is compared is given in one presentation alone.
 */
export function isWellPlaced(result: Shape, expected: Shape, number: number, examine: Examine): boolean {
  const isAlike = () => hasSamePlace(result, expected, examine.tolerance);
  const both = (kind: string) => result.kind === kind && expected.kind === kind;
  const hasText = result.hasText && expected.hasText;
  const hasNoText = !result.hasText && !expected.hasText;

  if (examine.title_bottom_position) {
    if (hasText && result.text === expected.text) {
      if (result.text === TITLE_TO_MOVE && !isBeyond(result.top, expected.top, BOTTOM)) return false;
    } else if (!isAlike()) return false;
  }
  if (examine.table_bottom_position) {
    if (number === 3 && both('table')) {
      if (!isBeyond(result.top, expected.top, BOTTOM)) return false;
    } else if (!isAlike()) return false;
  }
  if (examine.right_position && number === 2 && hasNoText && !isBeyond(result.left, expected.left, RIGHT)) return false;
  if (examine.top_position && number === 2 && both('picture')) {
    const [top, before] = [known(result.top), known(expected.top)];
    if (top >= before || top > TOP) return false;
  }
  if (examine.shape_for_shift_size && !isAlike()) {
    if (!(hasText && result.text === expected.text && result.text === TEXT_THAT_MAY_MOVE)) return false;
  }
  if (!isAlike() && examine.shape && !(isBlank(result) && isBlank(expected))) return false;
  if (examine.image_size) {
    const isSame = both('picture') ? hasSameSize(result, expected, examine.tolerance) : isAlike();
    if (!isSame) return false;
  }
  if (examine.modify_height) {
    const isFree = hasNoText || both('freeform');
    const isSame = isFree ? isClose(result.height, expected.height, examine.tolerance) : isAlike();
    if (!isSame) return false;
  }
  return true;
}

function hasSamePlace(a: Shape, b: Shape, tolerance: number): boolean {
  return isClose(a.left, b.left, tolerance) && isClose(a.top, b.top, tolerance) && hasSameSize(a, b, tolerance);
}

function hasSameSize(a: Shape, b: Shape, tolerance: number): boolean {
  return isClose(a.width, b.width, tolerance) && isClose(a.height, b.height, tolerance);
}

/** Equal, or neither 0 and apart by no more than `tolerance` of the greater one. */
function isClose(a: number | null, b: number | null, tolerance: number): boolean {
  if (a === b) return true;
  if (a === 0 || b === 0) return false;
  const [x, y] = [known(a), known(b)];
  return Math.abs(x - y) / Math.max(Math.abs(x), Math.abs(y)) <= tolerance;
}

/** Moved on from `before`, and at least to `limit`. */
function isBeyond(value: number | null, before: number | null, limit: number): boolean {
  return known(value) > known(before) && known(value) >= limit;
}

function known(value: number | null): number {
  if (value === null) throw new Error('a shape has no place of its own and inherits none');
  return value;
}

function isBlank(shape: Shape): boolean {
  return !shape.hasText || strip(shape.text) === '';
}
