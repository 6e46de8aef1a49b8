import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DartError } from '../../errors.ts';
import { AnySignal } from '../../stream/any_signal.ts';

export interface ReadinessOptions {
  /** `env_id`, for messages. */
  id: string;
  limitMs: number;
  /** Its reason is thrown: the command is stopped, or the container has ended. */
  signal: AbortSignal;
}

const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 1000;
/** One screenshot. */
const LOOK_MS = 10_000;

/** Resolves when `/screenshot` gives one: that, and not an open port, says that a desktop is up. */
export async function awaitServer(url: string, { id, limitMs, signal }: ReadinessOptions): Promise<void> {
  const end = performance.now() + limitMs;
  let last = 'no answer';
  for (let pauseMs = FIRST_PAUSE_MS; performance.now() < end; pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    signal.throwIfAborted();
    const problem = await look(url, LOOK_MS, signal);
    if (problem === null) return;
    last = problem;
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
  const limit = new AnySignal([signal], limitMs);
  try {
    const { status, bytes } = await fetchOnce(`${url}/screenshot`, limit.signal);
    if (status !== 200) return `status ${status}`;
    return bytes > 0 ? null : 'an empty picture';
  } catch (error) {
    if (limit.signal.aborted) return 'no answer in time';
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  } finally {
    limit.release();
  }
}

/** Not `fetch`, which now and then waits for ever where Docker's proxy hangs up as soon as it is called. */
function fetchOnce(url: string, signal: AbortSignal): Promise<{ status: number; bytes: number }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, signal }, (response) => {
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        bytes += piece.length;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }));
    });
    request.on('error', reject);
  });
}
