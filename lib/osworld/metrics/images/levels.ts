import { toGrey, toHsv, toRgb } from '../../formats/picture/convert.ts';
import { type Image, sameSize } from '../../formats/picture/image.ts';
import { resize } from '../../formats/picture/resize.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { isAlike, mean, onBoth } from './input.ts';

const brightness = (image: Image) => mean(toGrey(image).data);
const saturation = (image: Image) => mean(toHsv(image)[1].data);

/** Darker than the expected picture, and alike when both are brought to a mean grey of 128: squared error < threshold. */
function isDarker(result: Image, expected: Image, { options }: MetricInput): boolean {
  if (brightness(result) === 0 || brightness(expected) <= brightness(result)) return false;
  const other = levelled(expected);
  const same = sameSize(result, expected);
  const one = same ? levelled(result) : resize(levelled(result), expected.width, expected.height, 'lanczos');
  return squaredError(toRgb(one).data, toRgb(other).data) < options.number('threshold', 0.03);
}

/** Every channel scaled so that the mean grey is 128, as whole numbers up to 255. */
function levelled(image: Image): Image {
  const source = image.mode === 'P' ? toRgb(image) : image;
  const factor = 128 / brightness(image);
  return { ...source, data: source.data.map((value) => Math.min(255, Math.floor(value * factor))) };
}

/** Mean of squared differences of values 0..255, scaled to 0..1. */
function squaredError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += ((a[i]! - b[i]!) / 255) ** 2;
  return sum / a.length;
}

/** More saturated than the expected picture, alike in hue and in value. */
function isMoreSaturated(result: Image, expected: Image): boolean {
  const [hue, , value] = toHsv(result);
  const [otherHue, , otherValue] = toHsv(expected);
  return saturation(result) > saturation(expected) && isAlike(hue, otherHue) && isAlike(value, otherValue);
}

/** The standard deviation of all channels' values, of a palette's numbers where there is one. */
function contrast({ data, mode }: Image): number {
  const middle = mean(data);
  const spread = Math.sqrt(mean(Array.from(data, (value) => (value - middle) ** 2)));
  return mode === '1' ? spread / 255 : spread;
}

/** The variance of the Laplacian of the greys, edges mirrored. */
function sharpness(image: Image): number {
  const { width, height, data } = toGrey(image);
  const inside = (at: number, size: number) => (size === 1 ? 0 : at < 0 ? 1 : at >= size ? size - 2 : at);
  const at = (x: number, y: number) => data[inside(y, height) * width + inside(x, width)]!;
  const edges = Array.from(data, (value, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * value;
  });
  const middle = mean(edges);
  return mean(edges.map((value) => (value - middle) ** 2));
}

/** Brightness, saturation, contrast and sharpness of two pictures. */
export const levelMetrics: Record<string, Metric> = {
  check_brightness_decrease_and_structure_sim: onBoth(isDarker),
  check_saturation_increase_and_structure_sim: onBoth(isMoreSaturated),
  check_contrast_increase_and_structure_sim: onBoth(
    (result, expected) => contrast(result) > contrast(expected) && isAlike(result, expected, 0.65),
  ),
  check_sharper: onBoth((result, expected) => sharpness(result) > sharpness(expected)),
  increase_saturation: onBoth((first, second) => saturation(first) < saturation(second)),
  decrease_brightness: onBoth((first, second) => brightness(first) > brightness(second)),
};
