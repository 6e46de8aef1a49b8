import { DartError, messageOf } from '../../../errors.ts';
import type { FetchedFile } from '../../context.ts';
import { toRgb } from '../../formats/picture/convert.ts';
import { type Image, sameSize } from '../../formats/picture/image.ts';
import { readImage } from '../../formats/picture/read.ts';
import { ssim } from '../../formats/picture/similarity.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { expectedFiles, resultFile } from '../input.ts';

/** A picture that the agent left; null when it is missing or none, which is the agent's doing. */
export async function pictureIn(file: FetchedFile | null): Promise<Image | null> {
  if (file === null) return null;
  return readImage(file.bytes).catch(() => null);
}

/** A picture of the task. Throws a DartError where it cannot be read. */
export async function expectedIn(file: FetchedFile, input: MetricInput): Promise<Image> {
  return readImage(file.bytes).catch((cause: unknown) => {
    const message = `metric ${input.name}: expected picture ${file.name} cannot be read: ${messageOf(cause)}`;
    throw new DartError(message, { where: input.where, cause });
  });
}

/** A metric on the result's picture: 0 where there is none, else what `holds` says. */
export function onResult(holds: (image: Image, input: MetricInput) => boolean): Metric {
  return async (input) => {
    const image = await pictureIn(resultFile(input));
    return Number(image !== null && holds(image, input));
  };
}

/** A metric on two pictures: 0 where the result is none, else what `holds` says. */
export function onBoth(holds: (result: Image, expected: Image, input: MetricInput) => boolean): Metric {
  return async (input) => {
    // First, since it must be in order whatever the agent left.
    const expected = await expectedIn(expectedFiles(input)[0]!, input);
    const result = await pictureIn(resultFile(input));
    return Number(result !== null && holds(result, expected, input));
  };
}

/** Structural similarity of the colours is at least `threshold`; pictures of two sizes or below 7 pixels are not alike. */
export function isAlike(a: Image, b: Image, threshold = 0.9): boolean {
  if (!sameSize(a, b) || Math.min(a.width, a.height) < 7) return false;
  return ssim(toRgb(a), toRgb(b)) >= threshold;
}

/** Arithmetic mean. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += values[i]!;
  return sum / values.length;
}
