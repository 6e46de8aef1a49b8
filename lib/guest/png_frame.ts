import { decode } from 'fast-png';
import { DartError } from '../errors.ts';
import type { Frame } from './guest.ts';

const PNG_MAGIC = [137, 80, 78, 71];

/** Whether a file begins as a PNG does. */
export function isPng(bytes: Uint8Array): boolean {
  return bytes.length >= 24 && PNG_MAGIC.every((byte, i) => bytes[i] === byte);
}

/** A screenshot from a PNG file; its pixels are decoded when they are first asked for. Throws a DartError for other files. */
export function pngFrame(png: Uint8Array, where: string): Frame {
  if (!isPng(png)) throw new DartError('the screenshot is no PNG', { where });
  const view = new DataView(png.buffer, png.byteOffset, png.byteLength);
  let rgb: Uint8Array | null = null;
  return {
    width: view.getUint32(16),
    height: view.getUint32(20),
    png: () => png,
    rgb: () => {
      rgb ??= decodeRgb(png);
      return rgb;
    },
  };
}

function decodeRgb(png: Uint8Array): Uint8Array {
  const { width, height, data, channels, palette, depth } = decode(png);
  const rgb = new Uint8Array(width * height * 3);
  const shift = depth === 16 ? 8 : 0;
  for (let i = 0; i < width * height; i++) {
    const colour = palette?.[data[i] ?? 0];
    for (let c = 0; c < 3; c++) {
      const value = colour ? colour[c] : (data[i * channels + (channels < 3 ? 0 : c)] ?? 0) >> shift;
      rgb[i * 3 + c] = value ?? 0;
    }
  }
  return rgb;
}
