/**
 * Hands items on until there are no more, or until `enough` holds and nothing came for `quietMs`: a stream of running
 * desktops stays open for as long as they run.
 */
export async function* untilQuiet<T>(
  items: AsyncIterator<T>,
  enough: () => boolean,
  quietMs: number,
): AsyncGenerator<T, void, void> {
  for (;;) {
    const next = items.next();
    const result = enough() ? await Promise.race([next, after(quietMs)]) : await next;
    if (result === null) {
      // What still comes is not for this command; that the stream is cut at the end is no failure.
      next.catch(() => {});
      return;
    }
    if (result.done) return;
    yield result.value;
  }
}

function after(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null).unref());
}
