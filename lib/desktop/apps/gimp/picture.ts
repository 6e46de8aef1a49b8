import { decode, encode } from 'fast-png';
import { type Canvas, CELL } from '../../screen/cells.ts';
import { C, nearest } from '../../screen/palette.ts';

/** An RGB picture, 3 bytes a pixel. */
export interface Picture {
  width: number;
  height: number;
  rgb: Uint8Array;
}

/** PNG bytes (8-bit RGB). */
export function encodeRgb({ width, height, rgb }: Picture): Uint8Array {
  return encode({ width, height, data: rgb, channels: 3, depth: 8 });
}

/** Reads a PNG of any common kind; null when it is none. */
export function decodePicture(bytes: Uint8Array): Picture | null {
  try {
    const png = decode(bytes);
    const rgb = new Uint8Array(png.width * png.height * 3);
    const shift = png.depth === 16 ? 8 : 0;
    for (let i = 0; i < png.width * png.height; i++) rgb.set(pixelAt(png, i, shift), i * 3);
    return { width: png.width, height: png.height, rgb };
  } catch {
    return null;
  }
}

type Decoded = ReturnType<typeof decode>;

function pixelAt(png: Decoded, i: number, shift: number): number[] {
  const { data, channels, palette } = png;
  if (palette) return (palette[data[i] ?? 0] ?? [0, 0, 0]).slice(0, 3);
  const at = i * channels;
  const value = (c: number) => (data[at + c] ?? 0) >> shift;
  return channels < 3 ? [value(0), value(0), value(0)] : [value(0), value(1), value(2)];
}

/** Applies a function to every pixel; returns a new picture. */
export function mapPixels(picture: Picture, change: (r: number, g: number, b: number) => number[]): Picture {
  const { width, height, rgb } = picture;
  const out = new Uint8Array(rgb.length);
  for (let i = 0; i < rgb.length; i += 3) {
    const changed = change(rgb[i]!, rgb[i + 1]!, rgb[i + 2]!);
    for (let c = 0; c < 3; c++) out[i + c] = Math.max(0, Math.min(255, Math.round(changed[c] ?? 0)));
  }
  return { width, height, rgb: out };
}

/** Takes each pixel of a `width` x `height` picture from a place of another. */
export function remap(
  from: Picture,
  width: number,
  height: number,
  source: (x: number, y: number) => [number, number],
): Picture {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [sx, sy] = source(x, y);
      const at = (sy * from.width + sx) * 3;
      rgb.set(from.rgb.subarray(at, at + 3), (y * width + x) * 3);
    }
  }
  return { width, height, rgb };
}

let revisions = 1;

/** The picture as it is shown: scaled to fit `columns` x `rows` cells, centred, in palette colours. */
export function canvasOf(picture: Picture, columns: number, rows: number): Canvas {
  const width = columns * CELL;
  const height = rows * CELL;
  const pixels = new Uint8Array(width * height).fill(C.line);
  const fit = Math.min(width / picture.width, height / picture.height);
  const scale = fit >= 1 ? Math.floor(fit) : fit;
  const shownWidth = Math.max(1, Math.floor(picture.width * scale));
  const shownHeight = Math.max(1, Math.floor(picture.height * scale));
  const left = (width - shownWidth) >> 1;
  const top = (height - shownHeight) >> 1;
  for (let y = 0; y < shownHeight; y++) {
    for (let x = 0; x < shownWidth; x++) {
      const at = (Math.floor(y / scale) * picture.width + Math.floor(x / scale)) * 3;
      pixels[(top + y) * width + left + x] = nearest(picture.rgb[at]!, picture.rgb[at + 1]!, picture.rgb[at + 2]!);
    }
  }
  return { columns, rows, pixels, revision: revisions++ };
}
