import { crc32, deflateSync } from 'node:zlib';
import type { Frame, Size } from '../guest.ts';

const MAGIC = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const UP = 2;

/** A frame from what the X server gives: rows of 4 bytes a pixel, blue first. Nothing is converted before it is asked for. */
export function frameOf(pixels: Uint8Array, { width, height }: Size): Frame {
  let rgb: Uint8Array | null = null;
  let png: Uint8Array | null = null;
  return {
    width,
    height,
    rgb: () => {
      rgb ??= rgbOf(pixels);
      return rgb;
    },
    png: () => {
      png ??= encodePng(pixels, width, height);
      return png;
    },
  };
}

function rgbOf(pixels: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((pixels.length / 4) * 3);
  for (let from = 0, to = 0; from < pixels.length; from += 4, to += 3) {
    rgb[to] = pixels[from + 2]!;
    rgb[to + 1] = pixels[from + 1]!;
    rgb[to + 2] = pixels[from]!;
  }
  return rgb;
}

/** Each row as its difference to the one above: most of a desktop's rows are alike. */
function encodePng(pixels: Uint8Array, width: number, height: number): Uint8Array {
  const stride = width * 3 + 1;
  const rows = new Uint8Array(stride * height);
  let to = 0;
  let from = 0;
  for (let y = 0; y < height; y++) {
    rows[to++] = UP;
    const above = y === 0 ? -1 : from - width * 4;
    for (let x = 0; x < width; x++, from += 4, to += 3) {
      const up = above + x * 4;
      rows[to] = pixels[from + 2]! - (above < 0 ? 0 : pixels[up + 2]!);
      rows[to + 1] = pixels[from + 1]! - (above < 0 ? 0 : pixels[up + 1]!);
      rows[to + 2] = pixels[from]! - (above < 0 ? 0 : pixels[up]!);
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a channel, red, green and blue.
  header.set([8, 2, 0, 0, 0], 8);
  const body = deflateSync(rows, { level: 1 });
  return Buffer.concat([MAGIC, chunk('IHDR', header), chunk('IDAT', body), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8);
  return bytes;
}
