import { DartError } from '../../../errors.ts';
import { isFile } from '../../context.ts';
import { toGrey, toMode, toRgba } from '../../formats/picture/convert.ts';
import { BANDS, type Image, sameSize } from '../../formats/picture/image.ts';
import { resize } from '../../formats/picture/resize.ts';
import { ssim } from '../../formats/picture/similarity.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { expectedFiles, resultFile } from '../input.ts';
import { expectedIn, pictureIn } from './input.ts';

/** How much better than option `reference_base_result` a picture must be to score at all. */
const EPSILON = 0.01;

/**
 * Structural similarity of the greys at the size of the narrower picture, 0..1; with `reference_base_result` how far it
 * is from there to 1. OSWorld's number can fall below 0, which is 0 here.
 */
const compareImages: Metric = async (input) => {
  const expected = await expectedIn(expectedFiles(input)[0]!, input);
  const result = await pictureIn(resultFile(input));
  if (result === null) return 0;
  const { width, height } = narrower(result, expected);
  const [one, other] = [result, expected].map((image) => resize(toGrey(image), width, height, 'lanczos'));
  if (Math.min(width, height) < 7) return 0;
  const similarity = Math.max(0, ssim(one!, other!));
  if (!input.options.has('reference_base_result')) return similarity;
  const base = input.options.number('reference_base_result');
  return similarity >= base + EPSILON ? (similarity - base) / (1 - base) : 0;
};

function narrower(a: Image, b: Image): Image {
  return a.width < b.width || (a.width === b.width && a.height < b.height) ? a : b;
}

/** 1 when every picture, brought to the expected size and kind, equals the expected one pixel by pixel. */
const compareImageList: Metric = async (input) => {
  const results = Array.isArray(input.result) ? input.result : [input.result];
  const expected = expectedFiles(input);
  for (const [index, file] of expected.slice(0, results.length).entries()) {
    const wanted = await expectedIn(file, input);
    const result = await pictureIn(fileOrNull(results[index], input));
    if (result === null || !isEqual(result, wanted, input)) return 0;
  }
  return 1;
};

function fileOrNull(value: unknown, input: MetricInput) {
  if (value === null || value === undefined) return null;
  if (isFile(value)) return value;
  throw new DartError(`metric ${input.name} needs files as its result`, { where: input.where });
}

/**
 * Pillow looks for a difference in the alpha channel alone where there is one, and OSWorld does not know: pictures with
 * alpha that differ in colour count as equal. `strict` looks at all channels.
 */
function isEqual(result: Image, expected: Image, { fidelity }: MetricInput): boolean {
  const sized = sameSize(result, expected) ? result : resize(result, expected.width, expected.height, 'lanczos');
  const converted = toMode(sized, expected.mode);
  const isPlain = converted !== null && expected.mode !== 'P';
  const [a, b] = isPlain ? [converted, expected] : [toRgba(sized), toRgba(expected)];
  const bands = BANDS[b.mode];
  const onlyAlpha = isPlain && (b.mode === 'RGBA' || b.mode === 'LA') && fidelity !== 'strict';
  return b.data.every((value, at) => value === a.data[at] || (onlyAlpha && at % bands !== bands - 1));
}

/** Pictures against pictures. */
export const compareMetrics: Record<string, Metric> = {
  compare_images: compareImages,
  compare_image_list: compareImageList,
};
