import type { Metric } from '../../kinds.ts';
import { accessibilityMetrics } from './accessibility.ts';
import { zipMetrics } from './archives.ts';
import { bridgedMetrics } from './bridged.ts';
import { folderMetrics } from './folders.ts';
import { pageMetrics } from './pages.ts';
import { pdfMetrics } from './pdfs.ts';
import { pythonTestMetrics } from './python_tests.ts';
import { systemMetrics } from './system.ts';
import { tagMetrics } from './tags.ts';
import { plainMetrics } from './texts.ts';

/** Metrics of single file formats and of the system. */
export const miscMetrics: Record<string, Metric> = {
  ...plainMetrics,
  ...pdfMetrics,
  ...zipMetrics,
  ...pageMetrics,
  ...tagMetrics,
  ...systemMetrics,
  ...folderMetrics,
  ...accessibilityMetrics,
  ...pythonTestMetrics,
  ...bridgedMetrics,
};
