import type { Size } from '../../guest/guest.ts';
import type { Coordinates } from '../policy.ts';

/** Qwen2.5-VL's image preparation as UI-TARS 1.5 uses it (reference/dart-and-arpo.md §1.5). */
const FACTOR = 28;
const MIN_PIXELS = 100 * FACTOR * FACTOR;
const MAX_PIXELS = 16_384 * FACTOR * FACTOR;

export interface Point {
  x: number;
  y: number;
}

/**
 * The size of the image that the model sees for a screen of `width` × `height` pixels: both sides multiples of 28,
 * between 100·28² and 16384·28² pixels in all. 1920×1080 → 1932×1092.
 */
export function smartResize(width: number, height: number): Size {
  const rounded = { width: toMultiple(width, roundHalfEven), height: toMultiple(height, roundHalfEven) };
  const pixels = rounded.width * rounded.height;
  if (pixels > MAX_PIXELS) {
    const shrink = Math.sqrt((width * height) / MAX_PIXELS);
    return { width: toMultiple(width / shrink, Math.floor), height: toMultiple(height / shrink, Math.floor) };
  }
  if (pixels < MIN_PIXELS) {
    const grow = Math.sqrt(MIN_PIXELS / (width * height));
    return { width: toMultiple(width * grow, Math.ceil), height: toMultiple(height * grow, Math.ceil) };
  }
  return rounded;
}

/** A point as the policy wrote it → the pixel of the screen that it means, always inside the screen. */
export function toScreen(point: Point, screen: Size, coordinates: Coordinates): Point {
  const extent = extentOf(screen, coordinates);
  return {
    x: clamp(Math.round((point.x / extent.width) * screen.width), screen.width),
    y: clamp(Math.round((point.y / extent.height) * screen.height), screen.height),
  };
}

/** What the policy takes as the full width and height. */
function extentOf(screen: Size, coordinates: Coordinates): Size {
  if (coordinates === 'relative') return { width: 1000, height: 1000 };
  if (coordinates === 'smart-resize') return smartResize(screen.width, screen.height);
  return screen;
}

function toMultiple(length: number, round: (value: number) => number): number {
  return Math.max(FACTOR, round(length / FACTOR) * FACTOR);
}

/** Python's `round`, which the model's own preparation uses. */
function roundHalfEven(value: number): number {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

function clamp(value: number, length: number): number {
  return Math.min(Math.max(value, 0), length - 1);
}
