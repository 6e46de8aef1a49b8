import type { Metric } from '../../kinds.ts';
import { samePixels } from './pixels.ts';
import { wordMetric } from './word_metric.ts';

/** The same number of pictures, and in their order the same pixels. */
const compareDocxImages = wordMetric(async (result, expected, { fidelity }) => {
  const [ours, theirs] = [result.images, expected.images];
  if (ours.length !== theirs.length) return 0;
  for (const [index, image] of ours.entries()) {
    if (!(await samePixels(image, theirs[index]!, fidelity === 'strict'))) return 0;
  }
  return 1;
});

export const imageMetrics: Record<string, Metric> = { compare_docx_images: compareDocxImages };
