import { setTimeout as sleep } from 'node:timers/promises';
import { DartError } from '../../errors.ts';

export interface ReadinessOptions {
  /** `env_id`, for messages. */
  id: string;
  limitMs: number;
  /** Its reason is thrown: the command is stopped, or the container has ended. */
  signal: AbortSignal;
}

const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 1000;
/** One screenshot. The first looks are short: a request that comes while the network is being set up may get lost. */
const FIRST_LOOK_MS = 500;
const LAST_LOOK_MS = 10_000;

/** Resolves when `/screenshot` gives one: that, and not an open port, says that a desktop is up. */
export async function awaitServer(url: string, { id, limitMs, signal }: ReadinessOptions): Promise<void> {
  const end = performance.now() + limitMs;
  let last = 'no answer';
  let lookMs = FIRST_LOOK_MS;
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < end; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    signal.throwIfAborted();
    const problem = await look(url, lookMs, signal);
    if (problem === null) return;
    last = problem;
    lookMs = Math.min(lookMs * 1.5, LAST_LOOK_MS);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  signal.throwIfAborted();
  throw new DartError(`it gave no screenshot within ${Math.round(limitMs / 1000)} s: ${last}`, {
    where: `${id} (${url})`,
    hint: 'a longer boot-timeout=S, or fewer desktops at once',
  });
}

/** What is not right yet; null when all is. */
async function look(url: string, limitMs: number, signal: AbortSignal): Promise<string | null> {
  try {
    const response = await fetch(`${url}/screenshot`, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
    });
    const { length } = new Uint8Array(await response.arrayBuffer());
    if (!response.ok) return `status ${response.status}`;
    return length > 0 ? null : 'an empty picture';
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return cause?.code ?? (error as Error).message;
  }
}
