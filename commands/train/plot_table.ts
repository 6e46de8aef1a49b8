import { renderTable } from '../../lib/cli/table.ts';
import { fourDigits } from '../../lib/report/digits.ts';
import { type PlotSeries, rangeOf } from '../../lib/report/plot.ts';
import { sparkline } from '../../lib/report/sparkline.ts';

type Column = 'metric' | 'run' | 'course' | 'first' | 'last' | 'least' | 'largest';

/** Bars where nobody says how wide the output is, and the least that show a course. */
const [PLAIN_BARS, FEWEST_BARS] = [32, 8];
const GAP = 2;
const SHORTEST_NAME = 8;

/**
 * The course of each metric as a row of bars with its numbers.
 * @param columns of the terminal; what does not fit is left out, the least important first. Null for no terminal.
 */
export async function plotTable(series: readonly PlotSeries[], columns: number | null): Promise<string> {
  const rows = series.map(cellsOf);
  const chosen = columns === null ? layouts(series)[0]! : fitting(layouts(series), rows, columns);
  const beside = chosen.reduce((sum, column) => sum + (column === 'course' ? GAP : widthOf(column, rows) + GAP), -GAP);
  const bars = columns === null ? PLAIN_BARS : columns - beside;
  const nameWidth = columns === null ? Infinity : widthOf('metric', rows) - Math.max(0, beside - columns);
  const table = rows.map((row, i) =>
    chosen.map((column) => {
      if (column === 'metric') return shortened(row.metric, Math.max(SHORTEST_NAME, nameWidth));
      const ys = () => series[i]!.points.map(({ y }) => y);
      return column === 'course' ? sparkline(ys(), bars) : row[column];
    }),
  );
  return `${await renderTable(chosen, table)}\n`;
}

type Cells = Record<Exclude<Column, 'course'>, string>;

function cellsOf(series: PlotSeries): Cells {
  const { first, last, min, max } = rangeOf(series);
  const numbers = { first, last, least: min, largest: max };
  const texts = Object.entries(numbers).map(([name, value]) => [name, String(fourDigits(value))]);
  return { metric: series.metric.replace('train/', ''), run: series.run, ...Object.fromEntries(texts) } as Cells;
}

/** What a table may show, from all to the least. The name of the only run can be done without. */
function layouts(series: readonly PlotSeries[]): Column[][] {
  const all: Column[] = ['metric', 'run', 'course', 'first', 'last', 'least', 'largest'];
  const single = new Set(series.map(({ run }) => run)).size < 2;
  const without = (...left: Column[]) =>
    all.filter((column) => !left.includes(column) && !(single && column === 'run'));
  return [all, without(), without('least', 'largest'), without('course', 'least', 'largest')];
}

function fitting(all: readonly Column[][], rows: readonly Cells[], columns: number): Column[] {
  const need = (layout: Column[]) => layout.reduce((sum, column) => sum + widthOf(column, rows) + GAP, -GAP);
  return all.find((layout) => need(layout) <= columns) ?? all.at(-1)!;
}

function widthOf(column: Column, rows: readonly Cells[]): number {
  if (column === 'course') return FEWEST_BARS;
  return Math.max(column.length, ...rows.map((row) => row[column].length));
}

/** The end of a name tells more than its beginning. */
function shortened(name: string, width: number): string {
  return name.length <= width ? name : `…${name.slice(name.length - width + 1)}`;
}
