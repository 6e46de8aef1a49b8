import { type DecodedPng, decode } from 'fast-png';

/** An 8-bit RGBA picture, row-major. */
export interface Picture {
  width: number;
  height: number;
  /** `width * height * 4` bytes. */
  rgba: Uint8Array;
}

/** Decodes a PNG of any colour type. Throws what is wrong with the file. */
export function readPng(bytes: Uint8Array): Picture {
  const image = decode(bytes);
  const { width, height, channels, palette } = image;
  const rgba = new Uint8Array(width * height * 4);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const values = palette ? palette[sample(image, pixel, 0)]! : levels(image, pixel, channels);
    const [r, g, b, a] = values.length < 3 ? [values[0], values[0], values[0], values[1]] : values;
    rgba.set([r!, g!, b!, a ?? 255], pixel * 4);
  }
  return { width, height, rgba };
}

/** The channels of a pixel as bytes. */
function levels(image: DecodedPng, pixel: number, channels: number): number[] {
  const top = 2 ** image.depth - 1;
  return Array.from({ length: channels }, (_, channel) => Math.round((sample(image, pixel, channel) * 255) / top));
}

/** One sample; those of fewer than 8 bits are packed, each row from a whole byte. */
function sample({ data, width, channels, depth }: DecodedPng, pixel: number, channel: number): number {
  if (depth >= 8) return data[pixel * channels + channel]!;
  const [x, y] = [pixel % width, Math.floor(pixel / width)];
  const perByte = 8 / depth;
  const byte = data[y * Math.ceil(width / perByte) + Math.floor(x / perByte)]!;
  return (byte >> (8 - depth * ((x % perByte) + 1))) & (2 ** depth - 1);
}

/** Grey levels as PIL's mode L: (19595 R + 38470 G + 7471 B + 2^15) / 2^16. */
export function greyOf({ rgba }: Picture): Uint8Array {
  const grey = new Uint8Array(rgba.length / 4);
  for (let i = 0; i < grey.length; i += 1) {
    grey[i] = (rgba[i * 4]! * 19595 + rgba[i * 4 + 1]! * 38470 + rgba[i * 4 + 2]! * 7471 + 0x8000) >> 16;
  }
  return grey;
}

/** Arithmetic mean. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += values[i]!;
  return sum / values.length;
}

/** A new picture of another size whose pixels are taken from `from(x, y)` (indices into the source). */
export function remap(source: Picture, width: number, height: number, from: (x: number, y: number) => number): Picture {
  const rgba = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const start = from(x, y) * 4;
      rgba.set(source.rgba.subarray(start, start + 4), (y * width + x) * 4);
    }
  }
  return { width, height, rgba };
}

/**
 * Mean structural similarity of two pictures of one size over R, G, B: uniform 7x7 window, sample covariance, the
 * constants of Wang et al. 2004, borders left out (what scikit-image computes for `win_size=7, channel_axis=2`).
 */
export function structuralSimilarity(a: Picture, b: Picture, window = 7): number {
  const pad = Math.floor(window / 2);
  let sum = 0;
  let count = 0;
  for (let channel = 0; channel < 3; channel += 1) {
    for (let y = pad; y < a.height - pad; y += 1) {
      for (let x = pad; x < a.width - pad; x += 1) {
        sum += windowSimilarity(a, b, x, y, pad, channel);
        count += 1;
      }
    }
  }
  return sum / count;
}

function windowSimilarity(a: Picture, b: Picture, x: number, y: number, pad: number, channel: number): number {
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  let [n, sa, sb, saa, sbb, sab] = [0, 0, 0, 0, 0, 0];
  for (let v = y - pad; v <= y + pad; v += 1) {
    for (let u = x - pad; u <= x + pad; u += 1) {
      const index = (v * a.width + u) * 4 + channel;
      const [p, q] = [a.rgba[index]!, b.rgba[index]!];
      n += 1;
      sa += p;
      sb += q;
      saa += p * p;
      sbb += q * q;
      sab += p * q;
    }
  }
  const [ma, mb] = [sa / n, sb / n];
  const [va, vb, cov] = [(saa - n * ma * ma) / (n - 1), (sbb - n * mb * mb) / (n - 1), (sab - n * ma * mb) / (n - 1)];
  return ((2 * ma * mb + c1) * (2 * cov + c2)) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
}
