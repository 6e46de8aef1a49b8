import type { EnvironmentPool } from '../environment/pool.ts';
import { messageOf } from '../errors.ts';
import { isGone, type Store } from '../store/index.ts';

/**
 * Keeps the store's table of desktops up to date while the pool lives. Notes hold nobody up; one that fails is told of,
 * and costs nothing else. A store that is gone is not told of here: the rollouts end by it.
 * @returns what resolves when everything told so far is stored; to be called after the pool is closed.
 */
export function noteDesktops(
  environments: Pick<EnvironmentPool, 'watch'>,
  store: Pick<Store, 'upsertEnvironment'>,
  options: { runId: string; onError: (message: string) => void },
): () => Promise<void> {
  let notes: Promise<void> = Promise.resolve();
  environments.watch((desktop) => {
    notes = notes
      .then(() => store.upsertEnvironment(options.runId, desktop, desktop.state === 'failed' ? 1 : 0))
      .catch((error: unknown) => {
        if (!isGone(error)) options.onError(messageOf(error));
      });
  });
  return () => notes;
}
