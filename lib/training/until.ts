/**
 * The items of a stream until the signal aborts: then it ends at once, also while the stream is waiting for more. What
 * the stream would have given next is let go.
 */
export async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, void> {
  const iterator = stream[Symbol.asyncIterator]();
  const aborted = Symbol('aborted');
  let stop: () => void = () => {};
  const stopped = new Promise<typeof aborted>((resolve) => {
    stop = () => resolve(aborted);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    while (!signal.aborted) {
      const pending = iterator.next();
      const next = await Promise.race([pending, stopped]);
      if (next === aborted) {
        pending.catch(() => {});
        return;
      }
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    // Not awaited: a stream that waits for input ends its own waiting only when input comes.
    void iterator.return?.()?.catch(() => {});
  }
}
