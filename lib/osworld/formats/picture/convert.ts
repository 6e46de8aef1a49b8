import { BANDS, blank, type Image, type Mode } from './image.ts';

/** One pixel as `[r, g, b, a]`, 0..255. */
type Rgba = readonly [number, number, number, number];

function reader(image: Image): (pixel: number) => Rgba {
  const { data, palette } = image;
  if (image.mode === 'RGB') return (i) => [data[i * 3]!, data[i * 3 + 1]!, data[i * 3 + 2]!, 255];
  if (image.mode === 'RGBA') return (i) => [data[i * 4]!, data[i * 4 + 1]!, data[i * 4 + 2]!, data[i * 4 + 3]!];
  if (image.mode === 'LA') return (i) => [data[i * 2]!, data[i * 2]!, data[i * 2]!, data[i * 2 + 1]!];
  if (image.mode === 'P') return (i) => (palette?.[data[i]!] ?? [0, 0, 0, 255]) as unknown as Rgba;
  if (image.mode === 'I;16') return (i) => [data[i]! >> 8, data[i]! >> 8, data[i]! >> 8, 255];
  if (image.mode !== 'CMYK') return (i) => [data[i]!, data[i]!, data[i]!, 255];
  return (i) => {
    const light = 255 - data[i * 4 + 3]!;
    const channel = (at: number) => light - mulDiv255(data[i * 4 + at]!, light);
    return [channel(0), channel(1), channel(2), 255];
  };
}

/** Pillow's `a * b / 255`, rounded. */
export function mulDiv255(a: number, b: number): number {
  const value = a * b + 128;
  return ((value >> 8) + value) >> 8;
}

/** Pillow's `convert('RGB')`: alpha is dropped. */
export function toRgb(image: Image): Image {
  return image.mode === 'RGB' ? image : convert(image, 'RGB', ([r, g, b]) => [r, g, b]);
}

/** Pillow's `convert('RGBA')`. */
export function toRgba(image: Image): Image {
  return image.mode === 'RGBA' ? image : convert(image, 'RGBA', (rgba) => rgba);
}

/** Pillow's `convert('L')`: (19595 R + 38470 G + 7471 B + 2^15) / 2^16. */
export function toGrey(image: Image): Image {
  return image.mode === 'L' ? image : convert(image, 'L', (rgba) => [luma(rgba)]);
}

function luma([r, g, b]: Rgba): number {
  return (r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16;
}

/** Pillow's `convert(mode)` among the modes that pictures are compared in; null where we have no such conversion. */
export function toMode(image: Image, mode: Mode): Image | null {
  if (image.mode === mode) return image;
  if (mode === 'RGB') return toRgb(image);
  if (mode === 'RGBA') return toRgba(image);
  if (mode === 'L') return toGrey(image);
  if (mode === 'LA') return convert(image, 'LA', (rgba) => [luma(rgba), rgba[3]]);
  return null;
}

function convert(image: Image, mode: Mode, map: (rgba: Rgba) => readonly number[]): Image {
  const made = blank(image.width, image.height, mode);
  const read = reader(image);
  const bands = BANDS[mode];
  for (let pixel = 0; pixel < image.width * image.height; pixel += 1) made.data.set(map(read(pixel)), pixel * bands);
  return made;
}

/** Hue, saturation and value as three grey images: Pillow's `convert('HSV')`, its 32-bit floats included. */
export function toHsv(image: Image): [hue: Image, saturation: Image, value: Image] {
  const planes = [0, 1, 2].map(() => blank(image.width, image.height, 'L'));
  const read = reader(image);
  for (let pixel = 0; pixel < image.width * image.height; pixel += 1) {
    const hsv = hsvOf(read(pixel));
    for (const [at, plane] of planes.entries()) plane.data[pixel] = hsv[at]!;
  }
  return planes as [Image, Image, Image];
}

function hsvOf([r, g, b]: Rgba): number[] {
  const high = Math.max(r, g, b);
  const low = Math.min(r, g, b);
  if (high === low) return [0, 0, high];
  const f = Math.fround;
  const span = f(high - low);
  const [rc, gc, bc] = [f((high - r) / span), f((high - g) / span), f((high - b) / span)];
  let hue = f(bc - gc);
  if (r !== high) hue = g === high ? f(2 + rc - bc) : f(4 + gc - rc);
  hue = f((hue / 6 + 1) % 1);
  return [clip(Math.trunc(hue * 255)), clip(Math.trunc(f(span / f(high)) * 255)), high];
}

function clip(value: number): number {
  return Math.max(0, Math.min(255, value));
}
