import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { columnsOf } from '../../lib/cli/terminal.ts';
import { either, nearest, nearestFew, UsageError } from '../../lib/cli/usage.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import { MetricRun, type PlotAxis, type PlotSeries, smoothed } from '../../lib/report/plot.ts';
import { plotPage, plotSvg } from '../../lib/report/plot_page.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { outputError } from '../../lib/stream/writer.ts';
import { plotTable } from './plot_table.ts';
import { numberOf, textOf } from './settings.ts';

/** `dart-train plot`. */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const runs = await readRuns(context);
  const names = chosenMetrics(context, runs);
  if (names.length === 0) {
    logOf(context).error('no metric of an update came. Try: a file that dart-train wrote');
    return EXIT.negative;
  }
  const [axis, smooth] = [options.x as PlotAxis, numberOf(options, 'smooth') ?? 0];
  const series = names.flatMap((metric) => runs.flatMap((each) => seriesOf(each, metric, axis, smooth)));
  const [svg, page] = [textOf(options, 'svg'), textOf(options, 'html')];
  if (svg !== null) await write(context, svg, plotSvg(series, { axis, smooth }));
  if (page !== null) await write(context, page, plotPage(series, { axis, smooth }));
  if (svg === null && page === null) {
    const columns = columnsOf(context.io.stdout, 0);
    await print(context, await plotTable(series, columns === 0 ? null : columns));
  }
  return EXIT.ok;
}

async function readRuns(context: CommandContext): Promise<MetricRun[]> {
  const paths = context.positionals.length === 0 ? ['-'] : context.positionals;
  const runs: MetricRun[] = [];
  for (const path of paths) {
    const run = new MetricRun(nameOf(path, paths));
    // Without a file, nothing is read from a terminal.
    for await (const { record } of readInputs(context, context.positionals.length === 0 ? [] : [path])) run.add(record);
    runs.push(run);
  }
  return runs;
}

/** The file's name without its ending; the whole path where two files would have the same. */
function nameOf(path: string, paths: readonly string[]): string {
  const short = (name: string) => (name === '-' ? 'stdin' : basename(name).replace(/\.(ndjson|jsonl)$/, ''));
  return paths.filter((other) => short(other) === short(path)).length > 1 ? path : short(path);
}

/** Those of `--metrics`, else all. @throws UsageError for one that is in none of the files. */
function chosenMetrics({ options }: CommandContext, runs: readonly MetricRun[]): string[] {
  const known = [...new Set(runs.flatMap(({ metrics }) => metrics))];
  const wanted = textOf(options, 'metrics');
  if (wanted === null || known.length === 0) return known;
  const names = wanted.split(',').map((name) => name.trim());
  const chosen = names.map((name) => {
    const found = known.find((metric) => metric === name || metric === `train/${name}`);
    if (found !== undefined) return found;
    const short = known.map((metric) => metric.replace('train/', ''));
    const word = name.replace('train/', '');
    const hint = nearest(word, short) ?? `${either(nearestFew(word, short))}; without --metrics all are shown`;
    throw new UsageError(`no file has a metric '${name}'`, { where: '--metrics', hint });
  });
  return [...new Set(chosen)];
}

function seriesOf(run: MetricRun, metric: string, axis: PlotAxis, smooth: number): PlotSeries[] {
  const series = run.series(metric, axis);
  if (series === null) {
    throw new DartError(`the run has nothing to place its updates by for --x ${axis}`, {
      where: run.name,
      hint: '--x update',
    });
  }
  return series.points.length === 0 ? [] : [{ ...series, points: smoothed(series.points, smooth) }];
}

async function write(context: CommandContext, path: string, text: string): Promise<void> {
  if (path === '-') return print(context, text);
  await writeWhole(resolvePath(context.io, path), text);
}

/** All of it, however slowly it is read; a reader that leaves early has seen enough. */
async function print({ io }: CommandContext, text: string): Promise<void> {
  try {
    await pipeline([text], io.stdout, { end: false, signal: io.signal });
  } catch (error) {
    io.signal.throwIfAborted();
    throw outputError(error, 'stdout');
  }
}
