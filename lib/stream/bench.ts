/** One line of `make bench`: a measurement, and where it says something, its ratio to another one of the same run. */
export interface BenchMetric {
  name: string;
  value: number;
  unit: string;
  against?: string;
  ratio?: number;
}

/** Seconds of one call: the median of as many as fit into `budget` seconds, after a warm-up. */
export async function medianSeconds(call: () => unknown, budget = 1): Promise<number> {
  await call();
  const times: number[] = [];
  for (const end = performance.now() + 1000 * budget; performance.now() < end || times.length < 3; ) {
    const start = performance.now();
    await call();
    times.push((performance.now() - start) / 1000);
  }
  return times.sort((a, b) => a - b)[times.length >> 1]!;
}
