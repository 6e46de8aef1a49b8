import { curvesSvg } from './curves.ts';
import { fourDigits } from './digits.ts';
import { AXIS_TITLES, type PlotAxis, type PlotSeries, rangeOf, thinned } from './plot.ts';
import { sparkline } from './sparkline.ts';
import { Html, html } from './trajectory/html.ts';

export interface PlotOptions {
  axis: PlotAxis;
  /** Weight that the curves were smoothed with; said in the titles where it is not 0. */
  smooth: number;
}

/** Size of one picture of curves. */
const [WIDTH, HEIGHT] = [760, 420];

/** One picture a metric, with a curve for each run. */
function pictures(series: readonly PlotSeries[], { axis, smooth }: PlotOptions): string[] {
  const metrics = [...new Set(series.map(({ metric }) => metric))];
  return metrics.map((metric) => {
    const of = series.filter((each) => each.metric === metric);
    const unit = of.map((each) => each.unit).find(Boolean);
    return curvesSvg({
      title: `${metric}${smooth > 0 ? ` (smoothed ${smooth})` : ''}`,
      x: AXIS_TITLES[axis],
      y: unit || 'value',
      wholeX: axis !== 'wall',
      curves: of.map(({ run, points }) => ({ name: run, points: thinned(points) })),
    });
  });
}

/** All metrics in one SVG document, one picture below the other. */
export function plotSvg(series: readonly PlotSeries[], options: PlotOptions): string {
  const all = pictures(series, options);
  if (all.length === 1) return all[0]!;
  const placed = all.map((svg, i) =>
    svg.replace('<svg ', `<svg y="${i * HEIGHT}" width="${WIDTH}" height="${HEIGHT}" `),
  );
  const size = `viewBox="0 0 ${WIDTH} ${HEIGHT * all.length}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${placed.join('')}</svg>\n`;
}

const STYLE = `
body { font: 15px/1.5 sans-serif; margin: 2rem auto; max-width: 1560px; padding: 0 1rem; color: #222; }
h1 { overflow-wrap: anywhere; }
.numbers { overflow-x: auto; }
table { border-collapse: collapse; } th, td { padding: 0.15rem 0.8rem 0.15rem 0; text-align: left; }
th { border-bottom: 1px solid #999; } td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.course { font-family: monospace; }
.curves { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 560px), 1fr)); gap: 1rem; margin-top: 2rem; }
svg { width: 100%; height: auto; border: 1px solid #ddd; }
`;

/** A page that asks nothing of the network: the numbers of each metric as a table, then its curves. */
export function plotPage(series: readonly PlotSeries[], options: PlotOptions): string {
  const runs = [...new Set(series.map(({ run }) => run))];
  const title = `Training: ${runs.join(', ')}`;
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${new Html(STYLE)}</style></head>
<body>
<h1>${title}</h1>
<div class="numbers"><table>
<tr><th>metric</th><th>run</th><th>course</th>${['first', 'last', 'least', 'largest'].map((name) => html`<th class="number">${name}</th>`)}</tr>
${series.map(row)}
</table></div>
<div class="curves">
${pictures(series, options).map((svg) => new Html(svg))}
</div>
</body>
</html>
`;
  return page.text;
}

function row(series: PlotSeries): Html {
  const { first, last, min, max } = rangeOf(series);
  const numbers = [first, last, min, max].map((value) => html`<td class="number">${fourDigits(value)}</td>`);
  const course = sparkline(
    series.points.map(({ y }) => y),
    30,
  );
  return html`<tr><td>${series.metric}</td><td>${series.run}</td><td class="course">${course}</td>${numbers}</tr>
`;
}
