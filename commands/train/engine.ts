import type { Engine } from '../../lib/training/engine.ts';

export interface EnginePlace {
  /** The folder that is published into, which is there and locked. */
  dir: string;
  /** Ends the waiting for an engine that is starting. */
  signal: AbortSignal;
  /** How far a long request is. */
  progress: (line: string) => void;
}

/** An engine that the options ask for, checked as far as can be without writing anything. */
export interface ChosenEngine {
  /** For `--dry-run`. */
  settings: object;
  /** One line for people: what computes what. */
  text: string;
  /** How many of the versions that stay keep what a run goes on from; without it all. */
  keepStates?: number;
  /** Puts the policy into the folder and opens it. */
  open(place: EnginePlace): Promise<{ engine: Engine; baseSha256: string }>;
}
