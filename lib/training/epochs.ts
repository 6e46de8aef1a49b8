import type { DartError } from '../errors.ts';
import { Random } from '../stream/random.ts';
import type { Batch } from './engine.ts';
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

export interface EpochOptions {
  epochs: number;
  /** Steps, pairs or episodes of an update. */
  batchUnits: number;
  seed: number;
  signal: AbortSignal;
}

/**
 * Learns in passes over all units, each pass in an order of its own that only seed and pass decide: steps to imitate
 * (sft: token-mean negative log-likelihood), pairs (dpo) or labelled episodes (kto). Publishes after each pass. A resumed
 * run goes on where it was.
 * @param all At least one unit.
 * @returns why it ended.
 */
export async function learnInEpochs(session: Session, all: Batch, options: EpochOptions): Promise<string> {
  const { epochs, signal } = options;
  const perEpoch = Math.ceil(all.units.length / options.batchUnits);
  let stopped: string | null = session.limit();
  for (let update = session.state.updates; stopped === null && update < epochs * perEpoch; update++) {
    if (signal.aborted) stopped = stopReason(signal);
    else stopped = await oneUpdate(session, all, { ...options, update, perEpoch });
  }
  await session.publish();
  return stopped ?? 'epochs';
}

async function oneUpdate(
  session: Session,
  all: Batch,
  place: { update: number; perEpoch: number; batchUnits: number; seed: number },
): Promise<string | null> {
  const { update, perEpoch, batchUnits, seed } = place;
  const epoch = Math.floor(update / perEpoch);
  const part = update % perEpoch;
  const order = new Random(seed).fork(`epoch ${epoch}`).shuffle<unknown>([...all.units]);
  const units = order.slice(part * batchUnits, (part + 1) * batchUnits);
  const passes = (update + 1) / perEpoch;
  // Before the version of this update is published: it says how many passes it has in it.
  session.state.epochs = Math.floor(passes);
  await session.learn({ kind: all.kind, units } as Batch, [], (result, seconds) =>
    offlineMetrics(result, seconds, passes),
  );
  if (part === perEpoch - 1) await session.publish();
  return session.limit();
}

/** Updates that `learnInEpochs` will make in all: what a learning-rate schedule needs to know. */
export function updatesInEpochs(units: number, options: { epochs: number; batchUnits: number }): number {
  return options.epochs * Math.ceil(units / options.batchUnits);
}
