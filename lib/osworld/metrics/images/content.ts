import { toGrey, toRgb } from '../../formats/picture/convert.ts';
import { BANDS, boxOf, type Image, sameSize } from '../../formats/picture/image.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { resultFile, rulesOf, rulesWith } from '../input.ts';
import { onBoth, onResult } from './input.ts';
import { hasAlpha, opaqueBox } from './structure.ts';

/**
 * `{width?, height?, ignore_transparent?}`: the size, or that of the box around what is not transparent. OSWorld takes
 * the box also where nobody asked for it, of pictures with a transparent colour; `strict` does not.
 */
function hasSize(image: Image, input: MetricInput): boolean {
  const rules = rulesWith(input, 'width', 'height');
  const wantsBox = rules.flag('ignore_transparent') && hasAlpha(image);
  const isBoxed = wantsBox || (image.hasTransparency && input.fidelity !== 'strict');
  const [left, top, right, bottom] = (isBoxed ? opaqueBox(image) : [0, 0, image.width, image.height]) ?? [0, 0, 0, 0];
  const size = { width: right - left, height: bottom - top };
  const isSame = (side: 'width' | 'height') => !rules.has(side) || rules.number(side) === size[side];
  return isSame('width') && isSame('height');
}

/** The leftmost pixel darker than 128 lies within the left 5 %. */
function isTextLeft(image: Image): boolean {
  const { data } = toGrey(image);
  const box = boxOf(image, (pixel) => data[pixel]! < 128);
  return box !== null && box[0] < image.width * 0.05;
}

/** The pixels of the second rarest colour have their centre within 5 % of the picture's. */
function isTriangleCentred(image: Image): boolean {
  const bands = BANDS[image.mode];
  // Pillow gives one number a pixel then, of which OSWorld cannot make a colour.
  if (bands === 1) return false;
  const places = new Map<string, { count: number; x: number; y: number }>();
  for (let pixel = 0; pixel < image.width * image.height; pixel += 1) {
    const levels = [...image.data.subarray(pixel * bands, (pixel + 1) * bands)];
    const key = levels.map((level) => String(level).padStart(3, '0')).join();
    const place = places.get(key) ?? { count: 0, x: 0, y: 0 };
    place.count += 1;
    place.x += pixel % image.width;
    place.y += Math.floor(pixel / image.width);
    places.set(key, place);
  }
  const byCount = [...places].sort(([a], [b]) => (a < b ? -1 : 1)).sort((a, b) => a[1].count - b[1].count);
  const second = byCount[1]?.[1];
  if (second === undefined) return false;
  const isNear = (sum: number, side: number) => Math.abs(sum / second.count - side / 2) < 0.05 * side;
  return isNear(second.x, image.width) && isNear(second.y, image.height);
}

/** Green outweighs red and blue wherever the expected picture is not black. */
function isGreen(result: Image, expected: Image): boolean {
  if (!sameSize(result, expected)) return false;
  const [found, wanted] = [toRgb(result).data, toRgb(expected).data];
  for (let i = 0; i < wanted.length; i += 3) {
    const isBackground = wanted[i]! + wanted[i + 1]! + wanted[i + 2]! > 0;
    if (isBackground && !(found[i + 1]! > found[i]! && found[i + 1]! > found[i + 2]!)) return false;
  }
  return true;
}

/** `{max_size}`: the file has fewer bytes. */
const fileSize: Metric = (input) => {
  const file = resultFile(input);
  return Number(file !== null && file.bytes.length < rulesOf(input).number('max_size'));
};

/** What is in a picture, and where. */
export const contentMetrics: Record<string, Metric> = {
  check_image_size: onResult(hasSize),
  check_textbox_on_leftside: onResult(isTextLeft),
  check_triangle_position: onResult(isTriangleCentred),
  check_green_background: onBoth(isGreen),
  check_image_file_size: fileSize,
};
