import type { OptionSpec } from './spec.ts';

/** The options by which a command offers its metrics (`serveMetrics`). */
export const METRICS_OPTIONS: readonly OptionSpec[] = [
  {
    name: 'metrics',
    type: 'string',
    value: '[HOST:]PORT',
    describe:
      'Offer metrics to Prometheus at http://HOST:PORT/metrics; HOST is 127.0.0.1 unless given, port 0 takes any free one',
    group: 'System',
  },
  {
    name: 'metrics-token',
    type: 'string',
    value: 'FILE',
    describe:
      'File with the bearer token that a scraper must send; wanted where --metrics names another host than this one',
    group: 'System',
  },
];
