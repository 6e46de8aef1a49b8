import type { DartError } from '../errors.ts';
import { Random } from '../stream/random.ts';
import type { Batch } from './engine.ts';
import type { Order, Place } from './learned.ts';
import type { UpdateResult } from './learner.ts';
import { offlineMetrics } from './report.ts';
import type { Session } from './session.ts';
import { stopReason } from './stopping.ts';

/** All that an input has to learn from, read to its end. */
export interface Material {
  /** Everything at once: updates take parts of it. */
  batch: Batch;
  /** For the summary. */
  counts: Record<string, number>;
  /** One line for people. */
  note: string;
  /** Why nothing can be learned from it; null where it can. */
  problem: DartError | null;
  /** What to do better, as a warning. */
  advice?: string | null;
}

export interface EpochOptions extends Order {
  epochs: number;
  /** Where the run is with these units. */
  place: Place;
  signal: AbortSignal;
}

/**
 * Learns in passes over all units, each pass in an order of its own that only seed and pass decide: steps to imitate
 * (sft: token-mean negative log-likelihood), pairs (dpo) or labelled episodes (kto). Publishes after each pass. A run that
 * had begun with the same units goes on where it was, whatever the folder learned from besides.
 * @param all At least one unit.
 * @returns why it ended.
 */
export async function learnInEpochs(session: Session, all: Batch, options: EpochOptions): Promise<string> {
  const { epochs, place, signal } = options;
  let stopped: string | null = session.limit();
  tellPlace(session, place, epochs, stopped);
  while (stopped === null && place.at < epochs * place.perPass) {
    if (signal.aborted) stopped = stopReason(signal);
    else stopped = await oneUpdate(session, all, options);
  }
  await session.publish();
  return stopped ?? 'epochs';
}

function tellPlace(session: Session, place: Place, epochs: number, stopped: string | null): void {
  const told = place.describe(epochs);
  const [limit] = place.at === 0 && place.othersUpdates > 0 && stopped?.startsWith('max-') ? [stopped] : [];
  if (limit) session.warn(`--${limit} was reached before this run: it counts all that this folder learned`);
  else if (told?.odd) session.warn(told.line);
  else if (told) session.note(told.line);
}

async function oneUpdate(
  session: Session,
  all: Batch,
  { place, batchUnits, seed }: EpochOptions,
): Promise<string | null> {
  const { at, perPass } = place;
  const part = at % perPass;
  const order = new Random(seed).fork(`epoch ${Math.floor(at / perPass)}`).shuffle<unknown>([...all.units]);
  const units = order.slice(part * batchUnits, (part + 1) * batchUnits);
  const describe = (result: UpdateResult, seconds: number) => {
    // Before the version of this update is published: it says how far it is.
    place.advance(true);
    return offlineMetrics(result, seconds, (at + 1) / perPass);
  };
  const outcome = await session.learn({ kind: all.kind, units } as Batch, [], describe, { scheduled: at });
  if (outcome === 'skipped') place.advance(false);
  if (outcome !== 'left' && part === perPass - 1) await session.publish();
  return session.limit();
}

/** Updates that `learnInEpochs` will make in all: what a learning-rate schedule needs to know. */
export function updatesInEpochs(units: number, options: Pick<EpochOptions, 'epochs' | 'batchUnits'>): number {
  return options.epochs * Math.ceil(units / options.batchUnits);
}
