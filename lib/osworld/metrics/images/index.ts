import type { Metric } from '../../kinds.ts';
import { compareMetrics } from './compare.ts';
import { contentMetrics } from './content.ts';
import { levelMetrics } from './levels.ts';
import { structureMetrics } from './structure.ts';
import { transformMetrics } from './transform.ts';

/** The metrics of pictures. */
export const imageMetrics: Record<string, Metric> = {
  ...structureMetrics,
  ...levelMetrics,
  ...contentMetrics,
  ...compareMetrics,
  ...transformMetrics,
};
