import { toRgb } from '../../formats/picture/convert.ts';
import { blank, type Image, mirrored, sameSize } from '../../formats/picture/image.ts';
import type { Metric } from '../../kinds.ts';
import { onBoth } from './input.ts';

/** A new picture whose pixel at x, y is the source's at index `from(x, y)`. */
function remap(source: Image, width: number, height: number, from: (x: number, y: number) => number): Image {
  const made = blank(width, height, 'RGB');
  for (let i = 0; i < width * height; i += 1) {
    const start = from(i % width, Math.floor(i / width)) * 3;
    made.data.set(source.data.subarray(start, start + 3), i * 3);
  }
  return made;
}

function recolour(source: Image, map: (r: number, g: number, b: number) => number[]): Image {
  const data = source.data.slice();
  for (let i = 0; i < data.length; i += 3) data.set(map(data[i]!, data[i + 1]!, data[i + 2]!).map(Math.round), i);
  return { ...source, data };
}

const TRANSFORMS: Record<string, (source: Image) => Image> = {
  none: (source) => source,
  flip_horizontal: mirrored,
  flip_vertical: (s) => remap(s, s.width, s.height, (x, y) => (s.height - 1 - y) * s.width + x),
  rotate_right: (s) => remap(s, s.height, s.width, (x, y) => (s.height - 1 - x) * s.width + y),
  rotate_left: (s) => remap(s, s.height, s.width, (x, y) => x * s.width + (s.width - 1 - y)),
  invert: (source) => recolour(source, (r, g, b) => [255 - r, 255 - g, 255 - b]),
  desaturate: (source) => recolour(source, (r, g, b) => Array(3).fill(0.3 * r + 0.59 * g + 0.11 * b)),
};

/**
 * Our own metric: the result is the expected picture after `transform` (flip_horizontal, flip_vertical, rotate_right,
 * rotate_left, invert, desaturate, none), each of R, G, B within `tolerance` (default 2).
 */
const imageTransform: Metric = onBoth((result, expected, { options }) => {
  const transform = TRANSFORMS[options.text('transform')];
  if (transform === undefined) throw options.wrong('transform', 'a known transform');
  const wanted = transform(toRgb(expected));
  const tolerance = options.number('tolerance', 2);
  if (!sameSize(result, wanted)) return false;
  const { data } = toRgb(result);
  return data.every((value, i) => Math.abs(value - wanted.data[i]!) <= tolerance);
});

/** Our own metrics of pictures. */
export const transformMetrics: Record<string, Metric> = { check_image_transform: imageTransform };
