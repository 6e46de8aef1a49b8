/** Why a run ends although its input goes on: the reason of an aborted signal that is a limit, not an interruption. */
export class LimitReached extends Error {
  readonly limit: string;

  constructor(limit: string) {
    super(`--${limit} reached`);
    this.name = 'LimitReached';
    this.limit = limit;
  }
}

/** What the summary says of an aborted run: the limit's name, or `interrupted`. */
export function stopReason(signal: AbortSignal): string {
  return signal.reason instanceof LimitReached ? signal.reason.limit : 'interrupted';
}

/**
 * The items of a stream until the signal aborts: then it ends at once, also while the stream is waiting for more. What
 * the stream would have given next is let go, and so is an error that the abort itself causes in it.
 */
export async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  const iterator = stream[Symbol.asyncIterator]();
  const aborted = { aborted: true } as const;
  let stop: () => void = () => {};
  const stopped = new Promise<typeof aborted>((resolve) => {
    stop = () => resolve(aborted);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    while (!signal.aborted) {
      const pending = iterator.next();
      pending.catch(() => {});
      const next = await Promise.race([stopped, pending]).catch((error: unknown) => {
        if (signal.aborted) return aborted;
        throw error;
      });
      if ('aborted' in next || next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    // Not awaited: a stream that waits for input ends its own waiting only when input comes.
    void iterator.return?.()?.catch(() => {});
  }
}
