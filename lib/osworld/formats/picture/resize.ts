import { mulDiv255 } from './convert.ts';
import { BANDS, blank, type Image } from './image.ts';

/** A kernel of Pillow's resampling and how far it reaches, in source pixels at scale 1. */
interface Kernel {
  support: number;
  at(x: number): number;
}

const sinc = (x: number) => (x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI));

const LANCZOS: Kernel = { support: 3, at: (x) => (x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0) };

const BICUBIC: Kernel = {
  support: 2,
  at: (signed) => {
    const x = Math.abs(signed);
    if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * -0.5 + 2 : 0;
  },
};

/** Bits after the point in Pillow's 8-bit resampling. */
const UNIT = 2 ** 22;

/**
 * Pillow's `resize` of 8-bit images, bit by bit: across, then down, weights of 22 bits; pictures with alpha are
 * resampled premultiplied, those of palette and two colours take the nearest pixel.
 */
export function resize(image: Image, width: number, height: number, filter: 'lanczos' | 'bicubic'): Image {
  if (image.width === width && image.height === height) return image;
  if (image.mode === 'P' || image.mode === '1' || image.mode === 'I;16') return nearest(image, width, height);
  const kernel = filter === 'lanczos' ? LANCZOS : BICUBIC;
  const hasAlpha = image.mode === 'RGBA' || image.mode === 'LA';
  const source = hasAlpha ? premultiplied(image) : image;
  const across = width === image.width ? source : resampled(source, width, image.height, kernel, true);
  const made = height === image.height ? across : resampled(across, width, height, kernel, false);
  return hasAlpha ? unmultiplied(made) : made;
}

function nearest(image: Image, width: number, height: number): Image {
  const data = image.data.slice(0, 0).constructor === Uint16Array ? new Uint16Array(width * height) : null;
  const made: Image = { ...image, width, height, data: data ?? new Uint8Array(width * height) };
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(((y + 0.5) * image.height) / height) * image.width;
    for (let x = 0; x < width; x += 1) {
      made.data[y * width + x] = image.data[row + Math.floor(((x + 0.5) * image.width) / width)]!;
    }
  }
  return made;
}

interface Weights {
  first: number;
  values: number[];
}

/** For each of `size` new places the source pixels that make it, with whole weights whose sum is about `UNIT`. */
function weightsOf(from: number, size: number, kernel: Kernel): Weights[] {
  const scale = Math.max(from / size, 1);
  const support = kernel.support * scale;
  return Array.from({ length: size }, (_, place) => {
    const centre = ((place + 0.5) * from) / size;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const end = Math.min(from, Math.trunc(centre + support + 0.5));
    const raw = Array.from({ length: end - first }, (_unused, i) => kernel.at((i + first - centre + 0.5) / scale));
    const sum = raw.reduce((total, value) => total + value, 0);
    const values = raw.map((value) => {
      const share = (sum === 0 ? value : value / sum) * UNIT;
      return Math.trunc(share < 0 ? share - 0.5 : share + 0.5);
    });
    return { first, values };
  });
}

function resampled(source: Image, width: number, height: number, kernel: Kernel, across: boolean): Image {
  const bands = BANDS[source.mode];
  const made = blank(width, height, source.mode);
  const weights = across ? weightsOf(source.width, width, kernel) : weightsOf(source.height, height, kernel);
  const step = (across ? 1 : source.width) * bands;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const { first, values } = weights[across ? x : y]!;
      const start = (across ? y * source.width + first : first * source.width + x) * bands;
      for (let band = 0; band < bands; band += 1) {
        let sum = UNIT / 2;
        for (let i = 0; i < values.length; i += 1) sum += source.data[start + band + i * step]! * values[i]!;
        made.data[(y * width + x) * bands + band] = Math.max(0, Math.min(255, Math.floor(sum / UNIT)));
      }
    }
  }
  return made;
}

function premultiplied(image: Image): Image {
  return alphaMapped(image, mulDiv255);
}

function unmultiplied(image: Image): Image {
  return alphaMapped(image, (value, alpha) =>
    alpha === 0 || alpha === 255 ? value : Math.min(255, Math.trunc((255 * value) / alpha)),
  );
}

function alphaMapped(image: Image, map: (value: number, alpha: number) => number): Image {
  const bands = BANDS[image.mode];
  const data = image.data.slice();
  for (let i = 0; i < data.length; i += 1) {
    const alpha = image.data[i - (i % bands) + bands - 1]!;
    if (i % bands < bands - 1) data[i] = map(image.data[i]!, alpha);
  }
  return { ...image, data };
}
