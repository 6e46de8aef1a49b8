/** A piece of work as far as time goes. */
export interface Span {
  /** What it makes, and what it waits for. */
  product: string;
  after?: string | undefined;
  /** How long it takes, or takes still. */
  seconds: number;
}

/**
 * Seconds until all is done, where so many lanes each take the first piece that can begin, one after another.
 * @param running what is under way already: each has a lane
 * @param waiting the rest, in order; what none of these makes is there
 */
export function makespan(waiting: readonly Span[], lanes: number, running: readonly Span[] = []): number {
  const ends = new Map<string, number>();
  for (const { product, seconds } of running) ends.set(product, seconds);
  const free = [...running.map(({ seconds }) => seconds)];
  while (free.length < lanes) free.push(0);
  const left = [...waiting];
  const readyAt = ({ after }: Span) => {
    if (after === undefined) return 0;
    if (left.some(({ product }) => product === after)) return Number.POSITIVE_INFINITY;
    return ends.get(after) ?? 0;
  };
  while (left.length > 0) {
    const lane = free.indexOf(Math.min(...free));
    // Nobody makes what is waited for: then it is as good as there.
    const soonest = Math.min(...left.map(readyAt));
    const now = Math.max(free[lane]!, Number.isFinite(soonest) ? soonest : 0);
    const index = Math.max(
      0,
      left.findIndex((span) => readyAt(span) <= now),
    );
    const [span] = left.splice(index, 1);
    free[lane] = now + span!.seconds;
    ends.set(span!.product, free[lane]!);
  }
  return Math.max(0, ...free);
}
