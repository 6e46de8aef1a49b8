import { inflateSync } from 'node:zlib';
import { convertIndexedToRgb, decode } from 'fast-png';
import { DartError, messageOf } from '../errors.ts';

export interface Picture {
  width: number;
  height: number;
  /** Row-major, 3 bytes a pixel. */
  rgb: Uint8Array;
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/**
 * The pixels of a PNG. Pictures of the embedded desktop (8-bit palette, unfiltered rows) go a short way; the rest through
 * fast-png, with alpha dropped, grey spread over three channels and 16 bits cut to 8.
 * @param where Names the picture in errors.
 */
export function decodePicture(png: Uint8Array, where: string): Picture {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  try {
    return decodeIndexed(bytes) ?? decodeAny(png);
  } catch (error) {
    throw new DartError(`not a PNG that can be read: ${messageOf(error)}`, { where, cause: error });
  }
}

/** Null where it is not of that simple kind. PNG specification, §5 (chunks), §7.2 (rows). */
function decodeIndexed(bytes: Buffer): Picture | null {
  if (bytes.length < 45 || !bytes.subarray(0, 8).equals(SIGNATURE)) return null;
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  const [depth, colour, interlace] = [bytes[24], bytes[25], bytes[28]];
  if (depth !== 8 || colour !== 3 || interlace !== 0) return null;
  let palette: Buffer | null = null;
  const parts: Buffer[] = [];
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (name === 'PLTE') palette = data;
    if (name === 'IDAT') parts.push(data);
    at += 12 + length;
  }
  if (!palette || parts.length === 0) return null;
  const rows = inflateSync(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  if (rows.length !== (width + 1) * height) return null;
  return expandRows(rows, palette, width, height);
}

function expandRows(rows: Buffer, palette: Buffer, width: number, height: number): Picture | null {
  const colours = new Uint8Array(768);
  colours.set(palette.subarray(0, 768));
  const rgb = new Uint8Array(width * height * 3);
  let to = 0;
  for (let y = 0; y < height; y++) {
    const start = y * (width + 1);
    if (rows[start] !== 0) return null;
    for (let from = start + 1; from <= start + width; from++) {
      const colour = rows[from]! * 3;
      rgb[to] = colours[colour]!;
      rgb[to + 1] = colours[colour + 1]!;
      rgb[to + 2] = colours[colour + 2]!;
      to += 3;
    }
  }
  return { width, height, rgb };
}

function decodeAny(png: Uint8Array): Picture {
  const image = decode(png);
  const { width, height } = image;
  if (image.palette) {
    const data = convertIndexedToRgb(image);
    const channels = data.length / (width * height);
    return { width, height, rgb: toRgb(data, width * height, channels, 0) };
  }
  return { width, height, rgb: toRgb(image.data, width * height, image.channels, image.depth === 16 ? 8 : 0) };
}

function toRgb(data: ArrayLike<number>, pixels: number, channels: number, shift: number): Uint8Array {
  const rgb = new Uint8Array(pixels * 3);
  const coloured = channels >= 3 ? 1 : 0;
  for (let i = 0; i < pixels; i++) {
    for (let c = 0; c < 3; c++) rgb[i * 3 + c] = data[i * channels + c * coloured]! >> shift;
  }
  return rgb;
}
