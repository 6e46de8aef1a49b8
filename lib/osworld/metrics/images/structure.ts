import { toRgb, toRgba } from '../../formats/picture/convert.ts';
import { boxOf, crop, type Image, mirrored, sameSize } from '../../formats/picture/image.ts';
import { resize } from '../../formats/picture/resize.ts';
import { ssim } from '../../formats/picture/similarity.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { isAlike, onBoth } from './input.ts';

/** The box around what is not wholly transparent; null without any. */
export function opaqueBox(image: Image): [number, number, number, number] | null {
  const { data } = toRgba(image);
  return boxOf(image, (pixel) => data[pixel * 4 + 3] !== 0);
}

/** True where Pillow sees transparency: a channel of it, or a transparent colour. */
export function hasAlpha({ mode, hasTransparency }: Image): boolean {
  return mode === 'RGBA' || mode === 'LA' || hasTransparency;
}

/** Alike after the result, cut to what is not transparent, was brought to the expected size. */
function isAlikeResized(result: Image, expected: Image): boolean {
  const size = [expected.width, expected.height] as const;
  if (!hasAlpha(result)) return isAlike(resize(result, ...size, 'bicubic'), expected);
  const box = opaqueBox(result);
  return box !== null && isAlike(resize(toRgb(crop(toRgba(result), box)), ...size, 'bicubic'), expected);
}

/** Option `ssim_threshold` (0.85); the result is brought to the expected size. */
function isAlikeEnough(result: Image, expected: Image, { options }: MetricInput): boolean {
  const threshold = options.number('ssim_threshold', 0.85);
  const resized = sameSize(result, expected) ? result : resize(result, expected.width, expected.height, 'lanczos');
  const side = Math.min(expected.width, expected.height);
  const window = Math.min(7, side - (1 - (side % 2)));
  return window > 1 && ssim(toRgb(resized), toRgb(expected), window) >= threshold;
}

/** Structural similarity of two pictures. */
export const structureMetrics: Record<string, Metric> = {
  check_structure_sim: onBoth((result, expected) => isAlike(result, expected)),
  check_file_exists_and_structure_sim: onBoth((result, expected) => isAlike(result, expected)),
  check_structure_sim_with_threshold: onBoth(isAlikeEnough),
  check_structure_sim_resized: onBoth(isAlikeResized),
  check_palette_and_structure_sim: onBoth((result, expected) => result.mode === 'P' && isAlike(result, expected)),
  check_image_mirror: onBoth((result, expected) => isAlike(mirrored(result), expected, 0.99)),
};
