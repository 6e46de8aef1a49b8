import { decode } from 'fast-png';

const PNG = [0x89, 0x50, 0x4e, 0x47];

/**
 * True for two picture files whose pixels are stored alike: as OSWorld, which looks neither at size nor at the colours
 * that a palette's numbers stand for. `isStrict` does. Files of a kind that is not decoded here are compared as they are.
 */
export async function samePixels(first: Uint8Array, second: Uint8Array, isStrict: boolean): Promise<boolean> {
  if (Buffer.compare(first, second) === 0) return true;
  const [a, b] = [await pixelsOf(first, isStrict), await pixelsOf(second, isStrict)];
  return a !== null && b !== null && Buffer.compare(a, b) === 0;
}

/** Bytes of the pixels, with `isStrict` as RGBA and the size in front; null for what cannot be decoded. */
async function pixelsOf(bytes: Uint8Array, isStrict: boolean): Promise<Uint8Array | null> {
  try {
    const isPng = PNG.every((byte, i) => bytes[i] === byte);
    return isPng && !isStrict ? storedPixels(bytes) : await decodedPixels(bytes, isStrict);
  } catch {
    return null;
  }
}

/** A PNG's samples as Pillow keeps them: a byte each, of colours with 16 bits the upper half; one bit stays packed. */
function storedPixels(bytes: Uint8Array): Uint8Array {
  const { data, depth, channels, width, height, palette } = decode(bytes);
  if (depth === 16 && channels === 1) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (depth === 16) return Uint8Array.from(data, (value) => value >> 8);
  if (depth === 8 || (depth === 1 && palette === undefined)) return data as Uint8Array;
  const rowLength = Math.ceil((width * depth) / 8);
  const scale = palette === undefined ? 255 / (2 ** depth - 1) : 1;
  return Uint8Array.from({ length: width * height }, (_, pixel) => {
    const bit = (pixel % width) * depth;
    const byte = data[Math.floor(pixel / width) * rowLength + (bit >> 3)]!;
    return ((byte >> (8 - depth - (bit & 7))) & (2 ** depth - 1)) * scale;
  });
}

async function decodedPixels(bytes: Uint8Array, isStrict: boolean): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp');
  const image = isStrict ? sharp(bytes).toColourspace('srgb').ensureAlpha() : sharp(bytes);
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return isStrict ? Buffer.concat([Buffer.from(`${info.width}x${info.height};`), data]) : data;
}
