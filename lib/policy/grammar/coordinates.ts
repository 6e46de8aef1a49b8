import type { Size } from '../../guest/guest.ts';
import type { Coordinates } from '../policy.ts';

/** Qwen2.5-VL's image preparation as UI-TARS 1.5 uses it (reference/dart-and-arpo.md §1.5). */
const FACTOR = 28;
/** How many pixels the model is shown at least and at most; servers can be told other limits than these. */
export interface PixelLimits {
  min: number;
  max: number;
}
export const PIXEL_LIMITS: PixelLimits = { min: 100 * FACTOR * FACTOR, max: 16_384 * FACTOR * FACTOR };

export interface Point {
  x: number;
  y: number;
}

/**
 * The size of the image that the model sees for a screen of `width` × `height` pixels: both sides multiples of 28,
 * between 100·28² and 16384·28² pixels in all, or other `limits`. 1920×1080 → 1932×1092.
 */
export function smartResize(width: number, height: number, limits: PixelLimits = PIXEL_LIMITS): Size {
  const rounded = { width: toMultiple(width, roundHalfEven), height: toMultiple(height, roundHalfEven) };
  const pixels = rounded.width * rounded.height;
  if (pixels > limits.max) {
    const shrink = Math.sqrt((width * height) / limits.max);
    return { width: toMultiple(width / shrink, Math.floor), height: toMultiple(height / shrink, Math.floor) };
  }
  if (pixels < limits.min) {
    const grow = Math.sqrt(limits.min / (width * height));
    return { width: toMultiple(width * grow, Math.ceil), height: toMultiple(height * grow, Math.ceil) };
  }
  return rounded;
}

export interface ScreenConvention {
  screen: Size;
  coordinates: Coordinates;
  /** For `smart-resize`, where the server was told other limits than UI-TARS 1.5's. */
  pixels?: PixelLimits;
  /** Where the mouse is, for actions that name no place; moved along. Without it they cannot be read. */
  pointer?: Point;
}

/**
 * A point as the policy wrote it → the pixel of the screen that it means. A point outside stops at the edge, as the
 * mouse of a desktop does; 1000 of 1000 is the last pixel.
 */
export function toScreen(point: Point, { screen, coordinates, pixels }: ScreenConvention): Point {
  const extent = extentOf(screen, coordinates, pixels);
  return {
    x: clamp(Math.round((point.x / extent.width) * screen.width), screen.width),
    y: clamp(Math.round((point.y / extent.height) * screen.height), screen.height),
  };
}

/** What the policy takes as the full width and height. */
function extentOf(screen: Size, coordinates: Coordinates, pixels?: PixelLimits): Size {
  if (coordinates === 'relative') return { width: 1000, height: 1000 };
  if (coordinates === 'smart-resize') return smartResize(screen.width, screen.height, pixels);
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
