import type { ScreenConvention } from '../../policy/grammar/index.ts';
import { type Event, SCHEMA_VERSION, type Trajectory } from '../../stream/records.ts';

/** What a task folder knows of a task. */
export interface TaskFacts {
  domain: string;
  instruction: string;
}

/** What every importer is given. */
export interface ImportParts {
  /** Keeps a picture and gives its sha256. */
  keep: (png: Uint8Array) => Promise<string>;
  /** True where the blob store has this picture. */
  has: (sha256: string) => boolean;
  /** From `--task-dir`; null where the task is not there. */
  task: (taskId: string) => TaskFacts | null;
  /** For episodes that carry none of their own. */
  reward: number | null;
  /** Leave out whole episodes of which a screenshot is missing. */
  requireScreens: boolean;
  runId: string;
  /** How replies spell coordinates. */
  coordinates: ScreenConvention['coordinates'];
  /** A file or line that is not as it should be: throws, or counts it. */
  onBad: (error: unknown) => void;
  /** Counted by name for the summary. */
  count: (name: string, by?: number) => void;
  signal: AbortSignal;
}

/** A trajectory, or a word about one. */
export type Imported = Trajectory | Event;

/** Something about an episode that its reader should know; always with the place it was read from. */
export function note(event: string, where: string, about: Record<string, unknown>): Event {
  return { type: 'event', v: SCHEMA_VERSION, event, where, ...about };
}
