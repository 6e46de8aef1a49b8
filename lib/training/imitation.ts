import { DartError, EXIT } from '../errors.ts';
import { Random } from '../stream/random.ts';
import type { Example } from './examples.ts';
import { imitationMetrics } from './report.ts';
import type { Session } from './session.ts';
import { stopReason } from './stopping.ts';

export interface ImitationOptions {
  epochs: number;
  batchSamples: number;
  seed: number;
  signal: AbortSignal;
}

/**
 * Supervised learning of the given replies: token-mean negative log-likelihood, in passes over all of them, each pass in
 * an order of its own that only seed and pass decide. Publishes after each pass. A resumed run goes on where it was.
 * @param examples At least one.
 * @returns why it ended.
 */
export async function imitate(
  session: Session,
  examples: readonly Example[],
  options: ImitationOptions,
): Promise<string> {
  const { epochs, batchSamples, seed, signal } = options;
  const perEpoch = Math.ceil(examples.length / batchSamples);
  let stopped: string | null = session.limit();
  for (let update = session.state.updates; stopped === null && update < epochs * perEpoch; update++) {
    if (signal.aborted) stopped = stopReason(signal);
    else stopped = await oneUpdate(session, examples, { update, perEpoch, batchSamples, seed });
  }
  await session.publish();
  return stopped ?? 'epochs';
}

async function oneUpdate(
  session: Session,
  examples: readonly Example[],
  place: { update: number; perEpoch: number; batchSamples: number; seed: number },
): Promise<string | null> {
  const { update, perEpoch, batchSamples, seed } = place;
  const epoch = Math.floor(update / perEpoch);
  const part = update % perEpoch;
  const order = new Random(seed).fork(`epoch ${epoch}`).shuffle([...examples]);
  const batch = order.slice(part * batchSamples, (part + 1) * batchSamples);
  const passes = (update + 1) / perEpoch;
  await session.learn({ kind: 'sft', units: batch }, [], (result, seconds) =>
    imitationMetrics(result, seconds, passes),
  );
  if (part === perEpoch - 1) {
    session.state.epochs = epoch + 1;
    await session.publish();
  }
  return session.limit();
}

/** Throws a DartError (exit code 1) where no step is there to imitate; nothing has been published by then. */
export function refuseNothing(examples: readonly Example[]): void {
  if (examples.length > 0) return;
  throw new DartError('there is nothing to imitate: no demonstrated step could be used; nothing was published', {
    hint: '--all-outcomes, or trajectories with successes',
    exitCode: EXIT.negative,
  });
}

/** Updates that `imitate` will make in all: what a learning-rate schedule needs to know. */
export function imitationUpdates(examples: number, options: { epochs: number; batchSamples: number }): number {
  return options.epochs * Math.ceil(examples / options.batchSamples);
}
