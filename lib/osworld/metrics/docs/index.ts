import type { Metric } from '../../kinds.ts';
import { highlightMetrics } from './highlights.ts';
import { imageMetrics } from './images.ts';
import { layoutMetrics } from './layout.ts';
import { officeSettingsMetrics } from './office_settings.ts';
import { recordMetrics } from './records.ts';
import { runMetrics } from './runs.ts';
import { tableMetrics } from './tables.ts';
import { textMetrics } from './texts.ts';

/** The metrics of text documents (Writer, Word). */
export const documentMetrics: Record<string, Metric> = {
  ...textMetrics,
  ...layoutMetrics,
  ...runMetrics,
  ...tableMetrics,
  ...imageMetrics,
  ...recordMetrics,
  ...highlightMetrics,
  ...officeSettingsMetrics,
};
