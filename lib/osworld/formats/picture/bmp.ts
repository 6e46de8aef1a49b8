import { blank, type Image } from './image.ts';

/** Reads an uncompressed BMP of 1, 4, 8, 24 or 32 bits. Throws an Error that says what is wrong with it. */
export function readBmp(bytes: Uint8Array): Image {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [start, header, width, signedHeight] = [10, 14, 18, 22].map((at) => view.getInt32(at, true)) as number[];
  const [bits, compression] = [view.getUint16(28, true), view.getUint32(30, true)];
  const height = Math.abs(signedHeight!);
  if (header! < 40 || width! <= 0 || ![1, 4, 8, 24, 32].includes(bits) || (compression !== 0 && compression !== 3)) {
    throw new Error(`a BMP of ${bits} bits with compression ${compression} cannot be read`);
  }
  const stride = Math.ceil((width! * bits) / 32) * 4;
  if (start! + stride * height > bytes.length) throw new Error('the BMP ends before its picture does');
  const rowAt = (y: number) => start! + (signedHeight! > 0 ? height - 1 - y : y) * stride;
  if (bits >= 24) return colours(bytes, width!, height, bits / 8, rowAt);
  const entries = view.getUint32(46, true) || 2 ** bits;
  const palette = Array.from({ length: entries }, (_, i) => {
    const at = 14 + header! + i * 4;
    return [bytes[at + 2]!, bytes[at + 1]!, bytes[at]!, 255];
  });
  const image: Image = { ...blank(width!, height, 'P'), palette };
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width!; x += 1) {
      const bit = x * bits;
      image.data[y * width! + x] = (bytes[rowAt(y) + (bit >> 3)]! >> (8 - bits - (bit & 7))) & (2 ** bits - 1);
    }
  }
  return withoutGreyPalette(image);
}

/** Blue, green, red, and a fourth byte that Pillow does not look at. */
function colours(bytes: Uint8Array, width: number, height: number, size: number, rowAt: (y: number) => number): Image {
  const image = blank(width, height, 'RGB');
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = rowAt(y) + x * size;
      image.data.set([bytes[at + 2]!, bytes[at + 1]!, bytes[at]!], (y * width + x) * 3);
    }
  }
  return image;
}

/** Pillow takes a palette of rising greys for no palette: mode L, or 1 for black and white. */
function withoutGreyPalette(image: Image): Image {
  const palette = image.palette ?? [];
  const isBinary = palette.length === 2;
  const level = (i: number) => (isBinary ? i * 255 : i);
  if (!palette.every((entry, i) => entry.slice(0, 3).every((value) => value === level(i)))) return image;
  const data = image.data.map((value) => level(value));
  return { ...image, mode: isBinary ? '1' : 'L', data, palette: undefined };
}
