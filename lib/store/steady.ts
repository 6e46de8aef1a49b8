import { setTimeout as sleep } from 'node:timers/promises';
import { type DartError, messageOf } from '../errors.ts';
import { spanOf } from '../stream/span.ts';
import { StoreTrouble } from './trouble.ts';

const MOST_CONFLICTS = 30;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2000;
/** Who was told to stop does not wait for long. */
const STOPPED_PATIENCE_MS = 2000;

/** Takes a message for people. */
export type Notify = (message: string, level: 'info' | 'warn') => void;

export interface SteadyOptions {
  /** Where the store is, for messages. */
  place: string;
  /** How long to wait for a store that is away. */
  patienceMs: number;
  notify: Notify;
  /** Told to stop: waiting ends soon. */
  signal?: AbortSignal;
}

/**
 * Runs the store's operations, each of which may be run again: at once where another transaction was in the way, with
 * growing pauses while the store is away. One outage is told once and waited for together; when it has lasted too long,
 * everything from then on fails.
 */
export class Steady {
  readonly #options: SteadyOptions;
  /** When the outage began, by performance.now(). */
  #awaySince: number | null = null;
  #over: DartError | null = null;

  constructor(options: SteadyOptions) {
    this.#options = options;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    let conflicts = 0;
    for (let pauses = 0; ; ) {
      if (this.#over) throw this.#over;
      try {
        const result = await work();
        this.#found();
        return result;
      } catch (error) {
        if (!(error instanceof StoreTrouble) || error.kind === 'stuck') throw error;
        if (error.kind === 'conflict') {
          conflicts += 1;
          if (conflicts > MOST_CONFLICTS) throw error;
          await sleep(jittered(Math.min(5 * 2 ** conflicts, 500)));
        } else {
          this.#lost(error);
          await this.#pause(jittered(Math.min(FIRST_PAUSE_MS * 2 ** pauses, LONGEST_PAUSE_MS)));
          pauses += 1;
        }
      }
    }
  }

  /** Notes the outage, or that it has lasted too long. */
  #lost(error: StoreTrouble): void {
    const { place, patienceMs, signal, notify } = this.#options;
    const now = performance.now();
    if (this.#awaySince === null) {
      this.#awaySince = now;
      if (patienceMs > 0)
        notify(`lost the store ${place} (${error.message}); trying again ${spanOf('for', patienceMs)}`, 'warn');
    }
    const away = now - this.#awaySince;
    const patience = signal?.aborted ? Math.min(patienceMs, STOPPED_PATIENCE_MS) : patienceMs;
    if (away < patience) return;
    this.#over = new StoreTrouble('away', `the store stayed away for ${seconds(away)} s: ${error.message}`, {
      where: place,
      hint: error.hint,
      cause: error,
    });
    throw this.#over;
  }

  #found(): void {
    if (this.#awaySince === null) return;
    const away = performance.now() - this.#awaySince;
    this.#awaySince = null;
    this.#options.notify(`found the store ${this.#options.place} again after ${seconds(away)} s`, 'info');
  }

  /** A pause that ends early when the command is told to stop. */
  async #pause(ms: number): Promise<void> {
    const { signal } = this.#options;
    const isStopped = signal?.aborted ?? true;
    await sleep(ms, undefined, isStopped ? {} : { signal: signal! }).catch((error: unknown) => {
      if (!signal?.aborted) throw new Error(messageOf(error), { cause: error });
    });
  }
}

function seconds(ms: number): string {
  return String(Math.round(ms / 100) / 10);
}

/** Between half of it and all of it: those who failed together should not come back together. */
function jittered(ms: number): number {
  return ms * (0.5 + Math.random() / 2);
}
