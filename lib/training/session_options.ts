import type { AnyRecord } from '../stream/records.ts';
import type { Guards } from './guards.ts';
import type { Publisher } from './publisher.ts';
import type { Evaluations } from './rollback.ts';

export interface SessionLimits {
  /** Updates in all, those before a restart included. */
  maxUpdates: number | null;
  /** Steps learned from in all. */
  maxSamples: number | null;
}

export interface SessionOutput {
  record(record: AnyRecord): Promise<void>;
  /** How far it is: a line that the next one may replace. */
  progress(line: string): void;
  /** The same, of what goes on within an update. */
  detail?(line: string): void;
  /** A line that stays. */
  note(line: string): void;
  /** A line that stays, of something that is not as it should be. */
  warn(line: string): void;
}

export interface SessionOptions {
  limits: SessionLimits;
  /** Publish after every so many updates; 0 only where `publish` is called. */
  publishEvery: number;
  output: SessionOutput;
  /** Null where nothing is to be kept (a dry run). */
  publisher: Publisher | null;
  /** Rules that end the run. */
  guards?: Guards | null;
  /** Looks at evaluations of the versions; null where nothing is to be made of them. */
  evaluations?: Evaluations | null;
  /** Ends an update of several optimiser steps between two of them. */
  signal?: AbortSignal;
}
