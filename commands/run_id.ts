import { randomUUID } from 'node:crypto';

/** Sorts by time and is unique: `20260131T120000-1a2b3c`. */
export function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]|\..*/g, '');
  return `${time}-${randomUUID().slice(0, 6)}`;
}
