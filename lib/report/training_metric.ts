import type { AnyRecord } from '../stream/records.ts';

/** A number of an update, or of the version after it. */
export interface TrainingMetric {
  name: string;
  /** Null where it is not known. */
  value: number | null;
  update: number;
  unit: string;
}

/**
 * The number that a record of dart-train tells of an update: a metric, or an evaluation that it heard of, as
 * `eval/success_rate` of the version. Null for any other record.
 */
export function trainingMetric(record: AnyRecord): TrainingMetric | null {
  if (record.type === 'event' && record.event === 'evaluated') {
    return metric('eval/success_rate', record.score, record.version, 'share');
  }
  return record.type === 'metric' ? metric(record.name, record.value, record.update, record.unit) : null;
}

function metric(name: unknown, value: unknown, update: unknown, unit: unknown): TrainingMetric | null {
  if (typeof name !== 'string' || typeof update !== 'number') return null;
  const known = typeof value === 'number' && Number.isFinite(value) ? value : null;
  return { name, value: known, update, unit: typeof unit === 'string' ? unit : '' };
}
