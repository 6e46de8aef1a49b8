const BARS = [...'▁▂▃▄▅▆▇█'];

/**
 * Numbers as a row of bars, the least as the lowest and the largest as the highest one. Where there are more numbers than
 * columns, each bar is the mean of its share of them; fewer numbers make a shorter row. All alike are half as high.
 * @param width Columns at most, 1 or more.
 */
export function sparkline(values: readonly number[], width: number): string {
  const means = binned(values, width);
  const [least, most] = [Math.min(...means), Math.max(...means)];
  // Halves: the difference of two large numbers may be infinite.
  const level = (mean: number) => (most > least ? (mean / 2 - least / 2) / (most / 2 - least / 2) : 0.5);
  return means.map((mean) => BARS[Math.min(7, Math.floor(level(mean) * 8))]).join('');
}

/** At most `count` means of neighbours, in order. */
export function binned(values: readonly number[], count: number): number[] {
  const bins = Math.min(count, values.length);
  const from = (bin: number) => Math.round((bin * values.length) / bins);
  return Array.from({ length: bins }, (_, bin) => {
    const part = values.slice(from(bin), from(bin + 1));
    const mean = part.reduce((sum, value) => sum + value, 0) / part.length;
    return Number.isFinite(mean) ? mean : part.reduce((sum, value) => sum + value / part.length, 0);
  });
}
