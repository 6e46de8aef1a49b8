/**
 * Hands items on until there are no more, or until `enough` holds and nothing came for `quietMs`: a stream of running
 * desktops stays open for as long as they run.
 * @param rest Takes what comes after that.
 */
export async function* untilQuiet<T>(
  items: AsyncIterator<T>,
  enough: () => boolean,
  quietMs: number,
  rest: (later: AsyncIterable<T>) => void = () => {},
): AsyncGenerator<T, void, void> {
  for (;;) {
    const next = items.next();
    const result = enough() ? await Promise.race([next, quiet(quietMs)]) : await next;
    if (result === null) {
      // That the stream is cut at the end is no failure, where nobody reads on.
      next.catch(() => {});
      rest(after(next, items));
      return;
    }
    if (result.done) return;
    yield result.value;
  }
}

async function* after<T>(next: Promise<IteratorResult<T>>, items: AsyncIterator<T>): AsyncGenerator<T, void, void> {
  for (let result = await next; !result.done; result = await items.next()) yield result.value;
}

function quiet(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null).unref());
}
