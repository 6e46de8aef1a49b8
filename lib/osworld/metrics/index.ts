import type { Metric } from '../kinds.ts';
import { browserMetrics } from './browser.ts';
import { documentMetrics } from './docs/index.ts';
import { fileMetrics } from './files.ts';
import { imageMetrics } from './images/index.ts';
import { jsonMetrics } from './json.ts';
import { mailMetrics } from './mail.ts';
import { mediaMetrics } from './media.ts';
import { archiveMetric } from './misc/archives.ts';
import { miscMetrics } from './misc/index.ts';
import { sheetMetrics } from './sheets/index.ts';
import { slideMetrics } from './slides/index.ts';
import { textMetrics } from './text.ts';

/** As one of several metrics, `infeasible` cannot hold: an agent that says FAIL is scored before the metrics run. */
const infeasible: Metric = () => 0;

/** Every metric by its `func` name (osworld.md §4). */
export const METRICS: ReadonlyMap<string, Metric> = new Map(
  Object.entries({
    infeasible,
    ...textMetrics,
    ...fileMetrics,
    ...jsonMetrics,
    ...browserMetrics,
    ...mailMetrics,
    ...mediaMetrics,
    ...imageMetrics,
    ...miscMetrics,
    compare_archive: archiveMetric((name) => METRICS.get(name)),
    ...sheetMetrics,
    ...documentMetrics,
    ...slideMetrics,
  }),
);
