import { type DecodedPng, decode } from 'fast-png';
import { readBmp } from './bmp.ts';
import { BANDS, blank, type Image, type Mode } from './image.ts';

/** Pixels that one picture may have: a small file must not fill the memory. */
const MAX_PIXELS = 100_000_000;

/**
 * Opens a picture as Pillow does: PNG and BMP by their own pixels, JPEG, GIF, TIFF and WebP through sharp. Throws an
 * Error for anything else (an XCF, a text) and for broken files.
 */
export async function readImage(bytes: Uint8Array): Promise<Image> {
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47])) return readPng(bytes);
  if (startsWith(bytes, [0x42, 0x4d])) return readBmp(bytes);
  return readBySharp(bytes);
}

function startsWith(bytes: Uint8Array, magic: number[]): boolean {
  return magic.every((value, at) => bytes[at] === value);
}

function readPng(bytes: Uint8Array): Image {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length > 24 && view.getUint32(16) * view.getUint32(20) > MAX_PIXELS)
    throw new Error('the PNG is too large');
  const png = decode(bytes);
  const { width, height, channels, depth, palette } = png;
  const hasTransparency = png.transparency !== undefined || (palette ?? []).some((entry) => entry.length > 3);
  if (palette) {
    const entries = palette.map(([r, g, b, a]) => [r!, g!, b!, a ?? 255]);
    return { ...blank(width, height, 'P'), data: samples(png, 1), palette: entries, hasTransparency };
  }
  if (channels === 1 && depth === 16) {
    return { ...blank(width, height, 'I;16'), data: Uint16Array.from(png.data), hasTransparency };
  }
  const mode = (['L', 'LA', 'RGB', 'RGBA'] as const)[channels - 1]!;
  const isBinary = channels === 1 && depth === 1;
  const data = depth === 8 ? Uint8Array.from(png.data) : samples(png, depth < 8 ? 255 / (2 ** depth - 1) : 1 / 256);
  return { ...blank(width, height, isBinary ? '1' : mode), data, hasTransparency };
}

/** All samples as whole numbers, times `factor`; those of fewer than 8 bits are packed, each row from a whole byte. */
function samples({ data, width, height, channels, depth }: DecodedPng, factor: number): Uint8Array {
  const made = new Uint8Array(width * height * channels);
  const perRow = width * channels;
  const rowBytes = Math.ceil((perRow * depth) / 8);
  for (let i = 0; i < made.length; i += 1) {
    const at = i % perRow;
    const bit = at * depth;
    const packed = () => data[Math.floor(i / perRow) * rowBytes + (bit >> 3)]! >> (8 - depth - (bit & 7));
    made[i] = (depth < 8 ? packed() & (2 ** depth - 1) : data[i]!) * factor;
  }
  return made;
}

const MODES: Record<number, Mode> = { 1: 'L', 2: 'LA', 3: 'RGB', 4: 'RGBA' };

async function readBySharp(bytes: Uint8Array): Promise<Image> {
  const { default: sharp } = await import('sharp');
  const source = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: 'truncated' });
  const meta = await source.metadata();
  if (meta.format === 'svg' || meta.format === 'pdf') throw new Error(`a picture, not ${meta.format}, is wanted`);
  // Inverted as in most files of print; Pillow gives ink, 255 for full.
  if (meta.space === 'cmyk')
    return raw(await source.toColourspace('cmyk').raw().toBuffer({ resolveWithObject: true }), 'CMYK');
  const grey = meta.space === 'b-w';
  const decoded = await source
    .toColourspace(grey ? 'b-w' : 'srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const image = raw(decoded, MODES[decoded.info.channels]!);
  return meta.format === 'gif' ? withPalette(image) : image;
}

function raw(decoded: { data: Uint8Array; info: { width: number; height: number } }, mode: Mode): Image {
  const { width, height } = decoded.info;
  const data = Uint8Array.from(decoded.data);
  if (data.length !== width * height * BANDS[mode]) throw new Error(`the picture has not ${BANDS[mode]} channels`);
  return { width, height, mode, data, hasTransparency: false };
}

/**
 * A GIF has a palette, of which the decoder tells only the colours: they are numbered as they come. Nothing that is
 * measured depends on their numbers, only on that there is a palette.
 */
function withPalette(image: Image): Image {
  const bands = BANDS[image.mode];
  const numbers = new Map<number, number>();
  const palette: number[][] = [];
  const made: Image = { ...blank(image.width, image.height, 'P'), palette };
  for (let pixel = 0; pixel < image.width * image.height; pixel += 1) {
    const start = pixel * bands;
    const colour = [...image.data.subarray(start, start + bands)];
    const [r, g, b, a] = bands < 3 ? [colour[0]!, colour[0]!, colour[0]!, colour[1] ?? 255] : colour;
    const key = ((r! * 256 + g!) * 256 + b!) * 256 + (a ?? 255);
    let number = numbers.get(key);
    if (number === undefined) {
      number = palette.length;
      if (number === 256) return image;
      numbers.set(key, number);
      palette.push([r!, g!, b!, a ?? 255]);
    }
    made.data[pixel] = number;
  }
  made.hasTransparency = palette.some((entry) => entry[3] === 0);
  return made;
}
