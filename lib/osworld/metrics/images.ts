import { DartError, messageOf } from '../../errors.ts';
import { greyOf, mean, type Picture, readPng, remap, structuralSimilarity } from '../image.ts';
import type { Metric, MetricInput } from '../kinds.ts';
import { expectedFiles, resultFile, rulesOf } from './input.ts';

/** The result's picture; null when it is missing or no PNG, which is the agent's doing. */
function resultPicture(input: MetricInput): Picture | null {
  const file = resultFile(input);
  if (file === null) return null;
  try {
    return readPng(file.bytes);
  } catch {
    return null;
  }
}

function expectedPicture(input: MetricInput): Picture {
  const file = expectedFiles(input)[0]!;
  try {
    return readPng(file.bytes);
  } catch (cause) {
    const message = `metric ${input.name}: expected picture ${file.name} cannot be read: ${messageOf(cause)}`;
    throw new DartError(message, { where: input.where, cause });
  }
}

function sameSize(a: Picture, b: Picture): boolean {
  return a.width === b.width && a.height === b.height;
}

/** `{width?, height?, ignore_transparent?}`: the size, or that of the box around what is not transparent. */
const imageSize: Metric = (input) => {
  const picture = resultPicture(input);
  if (picture === null) return 0;
  const rules = rulesOf(input);
  const size = rules.flag('ignore_transparent') ? opaqueBox(picture) : picture;
  const isSame = (side: 'width' | 'height') => !rules.has(side) || rules.number(side) === size[side];
  return Number(isSame('width') && isSame('height'));
};

function opaqueBox({ width, rgba }: Picture): { width: number; height: number } {
  const [xs, ys]: [number[], number[]] = [[], []];
  for (let i = 0; i * 4 < rgba.length; i += 1) {
    if (rgba[i * 4 + 3] === 0) continue;
    xs.push(i % width);
    ys.push(Math.floor(i / width));
  }
  if (xs.length === 0) return { width: 0, height: 0 };
  const span = (values: number[]) =>
    values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b)) + 1;
  return { width: span(xs), height: span(ys) };
}

/** The result is the expected picture mirrored left to right: structural similarity at least 0.99. */
const imageMirror: Metric = (input) => {
  const picture = resultPicture(input);
  if (picture === null) return 0;
  const mirrored = transformed(expectedPicture(input), 'flip_horizontal')!;
  return Number(sameSize(picture, mirrored) && structuralSimilarity(picture, mirrored) >= 0.99);
};

/** Same size and structural similarity at least 0.9. */
const structureSim: Metric = (input) => {
  const picture = resultPicture(input);
  if (picture === null) return 0;
  const expected = expectedPicture(input);
  return Number(sameSize(picture, expected) && structuralSimilarity(picture, expected) >= 0.9);
};

/** Darker than the expected picture, and alike when both are brought to a mean grey of 128: squared error < threshold. */
const brightnessDecrease: Metric = (input) => {
  const picture = resultPicture(input);
  if (picture === null) return 0;
  const expected = expectedPicture(input);
  const isDarker = mean(greyOf(picture)) < mean(greyOf(expected));
  if (!isDarker || !sameSize(picture, expected)) return 0;
  return Number(squaredError(levelled(picture), levelled(expected)) < input.options.number('threshold', 0.03));
};

/** R, G, B scaled so that the mean grey is 128, as whole numbers up to 255. */
function levelled(picture: Picture): number[] {
  const factor = 128 / Math.max(mean(greyOf(picture)), 1e-9);
  const values: number[] = [];
  for (let i = 0; i < picture.rgba.length; i += 1) {
    if (i % 4 !== 3) values.push(Math.min(255, Math.floor(picture.rgba[i]! * factor)));
  }
  return values;
}

/** Mean of squared differences of values 0..255, scaled to 0..1. */
function squaredError(a: number[], b: number[]): number {
  return mean(a.map((value, i) => ((value - b[i]!) / 255) ** 2));
}

/**
 * Our own metric: the result is the expected picture after `transform` (flip_horizontal, flip_vertical, rotate_right,
 * rotate_left, invert, desaturate, none), each of R, G, B within `tolerance` (default 2).
 */
const imageTransform: Metric = (input) => {
  const picture = resultPicture(input);
  if (picture === null) return 0;
  const wanted = transformed(expectedPicture(input), input.options.text('transform'));
  if (wanted === null) throw input.options.wrong('transform', 'a known transform');
  if (!sameSize(picture, wanted)) return 0;
  const tolerance = input.options.number('tolerance', 2);
  return Number(picture.rgba.every((value, i) => i % 4 === 3 || Math.abs(value - wanted.rgba[i]!) <= tolerance));
};

function transformed(source: Picture, name: string): Picture | null {
  const { width: w, height: h } = source;
  if (name === 'none') return source;
  if (name === 'flip_horizontal') return remap(source, w, h, (x, y) => y * w + (w - 1 - x));
  if (name === 'flip_vertical') return remap(source, w, h, (x, y) => (h - 1 - y) * w + x);
  if (name === 'rotate_right') return remap(source, h, w, (x, y) => (h - 1 - x) * w + y);
  if (name === 'rotate_left') return remap(source, h, w, (x, y) => x * w + (w - 1 - y));
  if (name === 'invert') return recolour(source, (r, g, b) => [255 - r, 255 - g, 255 - b]);
  if (name === 'desaturate') return recolour(source, (r, g, b) => Array(3).fill(0.3 * r + 0.59 * g + 0.11 * b));
  return null;
}

function recolour(source: Picture, map: (r: number, g: number, b: number) => number[]): Picture {
  const rgba = source.rgba.slice();
  for (let i = 0; i < rgba.length; i += 4) rgba.set(map(rgba[i]!, rgba[i + 1]!, rgba[i + 2]!).map(Math.round), i);
  return { ...source, rgba };
}

export const imageMetrics: Record<string, Metric> = {
  check_image_size: imageSize,
  check_image_mirror: imageMirror,
  check_structure_sim: structureSim,
  check_brightness_decrease_and_structure_sim: brightnessDecrease,
  check_image_transform: imageTransform,
};
