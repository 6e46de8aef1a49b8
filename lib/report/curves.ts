import { fourDigits } from './digits.ts';
import { escapeHtml } from './trajectory/html.ts';

export interface CurvePoint {
  x: number;
  y: number;
  /** Ends of a bar around y. */
  low?: number | null;
  high?: number | null;
}

export interface Curve {
  name: string;
  points: readonly CurvePoint[];
  /** Drawn dashed: a simulation or somebody else's figures. */
  dashed?: boolean;
}

export interface CurvesOptions {
  title: string;
  x: string;
  y: string;
  curves: readonly Curve[];
  /** Both axes begin at 0, y below the least y where that is negative; the y axis ends here, or above the largest y. */
  yMax?: number;
  /** x is shown by its logarithm to base 2, for numbers that double. */
  logX?: boolean;
  /** x counts something: no ticks between whole numbers. */
  wholeX?: boolean;
}

const WIDTH = 760;
const HEIGHT = 420;
/** Points of a curve up to which each is a dot that can be seen; more are a line. */
const DOTS = 60;
const PLOT = { left: 60, top: 40, right: 540, bottom: 365 };
/** Okabe and Ito's colours, which the colour-blind can tell apart. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00', '#000000', '#7f7f7f'];

/**
 * Learning curves as an SVG document of 760 × 420 that asks nothing of the network. Each point is a circle whose title has
 * the numbers, so that they can be read where the picture is opened.
 */
export function curvesSvg(options: CurvesOptions): string {
  const scale = scalesOf(options);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    text(PLOT.left, 24, options.title, 'font-size="15"'),
    ...axes(options, scale),
    ...options.curves.flatMap((curve, index) => drawn(curve, index, scale)),
    '</svg>\n',
  ].join('\n');
}

interface Scale {
  x: (value: number) => number;
  y: (value: number) => number;
  xTicks: number[];
  yTicks: number[];
}

function scalesOf({ curves, yMax, logX, wholeX }: CurvesOptions): Scale {
  const points = curves.flatMap((curve) => curve.points);
  const most = yMax ?? Math.max(0, ...points.map(({ y, high }) => Math.max(y, high ?? y)));
  const least = Math.min(0, ...points.map(({ y }) => y));
  const yTicks = ticks(most, least);
  const [base, top] = [yTicks[0]!, yMax ?? yTicks.at(-1)!];
  const height = PLOT.bottom - PLOT.top;
  // Halves: the difference of two large numbers may be infinite.
  const share = (value: number) => (value / 2 - base / 2) / (top / 2 - base / 2);
  const y = (value: number) => PLOT.bottom - share(Math.min(Math.max(value, base), top)) * height;
  const width = PLOT.right - PLOT.left;
  if (logX) {
    const xTicks = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
    const [first, last] = [Math.log2(xTicks[0] ?? 1), Math.log2(xTicks.at(-1) ?? 2)];
    const x = (value: number) => PLOT.left + (width * (Math.log2(value) - first)) / Math.max(1e-9, last - first);
    return { x, y, xTicks, yTicks };
  }
  const xTicks = ticks(Math.max(0, ...points.map((point) => point.x)), 0, wholeX ? 1 : 0);
  const end = xTicks.at(-1)!;
  const along = (value: number) => (value < LARGE ? (width * value) / end : width * (value / end));
  return { x: (value) => PLOT.left + along(value), y, xTicks, yTicks };
}

/** Where products of a few hundred, and differences, become infinite; and the largest tick. */
const [LARGE, LAST_TICK] = [1e300, 1.79769313486e308];

/**
 * Steps of 1, 2 or 5 times a power of ten, from at most `least` (0 or below) by way of 0 up to at least `most`.
 * @param shortest The least that a step may be.
 */
function ticks(most: number, least = 0, shortest = 0): number[] {
  const span = Math.max(1e-9, most - least);
  const rough = Math.max(shortest, span < LARGE ? span / 5 : most / 5 - least / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= rough * (1 - 1e-9))!;
  const first = Math.floor(least / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(most / step - 1e-9));
  const tick = (index: number) => Math.min(LAST_TICK, Math.max(-LAST_TICK, (first + index) * step));
  return Array.from({ length: last - first + 1 }, (_, index) => Number(tick(index).toPrecision(12)));
}

function axes(options: CurvesOptions, { x, y, xTicks, yTicks }: Scale): string[] {
  const rule = (value: number) =>
    `<path d="M${PLOT.left} ${at(y(value))}H${PLOT.right}" stroke="${value === 0 ? '#333333' : '#dddddd'}"/>`;
  return [
    ...yTicks.filter((value) => y(value) >= PLOT.top - 1).map(rule),
    ...yTicks.map((value) => text(PLOT.left - 8, y(value) + 4, String(value), 'text-anchor="end"')),
    ...xTicks.map((value) => text(x(value), PLOT.bottom + 18, String(value), 'text-anchor="middle"')),
    text((PLOT.left + PLOT.right) / 2, HEIGHT - 14, options.x, 'text-anchor="middle"'),
    `<text transform="translate(16 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">${escapeHtml(options.y)}</text>`,
  ];
}

function drawn({ name, points, dashed }: Curve, index: number, { x, y }: Scale): string[] {
  const colour = COLOURS[index % COLOURS.length]!;
  const sorted = [...points].sort((a, b) => a.x - b.x);
  const path = sorted.map((point, i) => `${i === 0 ? 'M' : 'L'}${at(x(point.x))} ${at(y(point.y))}`).join('');
  const bar = ({ x: place, low, high }: CurvePoint) =>
    low == null || high == null
      ? []
      : `<path d="M${at(x(place))} ${at(y(low))}V${at(y(high))}" stroke="${colour}" opacity="0.35"/>`;
  const radius = points.length > DOTS ? 1 : 3;
  const dot = (point: CurvePoint) =>
    `<circle cx="${at(x(point.x))}" cy="${at(y(point.y))}" r="${radius}" fill="${colour}"><title>${escapeHtml(name)}: ${point.x}, ${fourDigits(point.y)}</title></circle>`;
  const row = PLOT.top + 12 + 20 * index;
  return [
    `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"${dashed ? ' stroke-dasharray="6 4"' : ''}/>`,
    ...sorted.flatMap(bar),
    ...sorted.map(dot),
    `<path d="M${PLOT.right + 16} ${row - 4}h20" stroke="${colour}" stroke-width="2"${dashed ? ' stroke-dasharray="6 4"' : ''}/>`,
    text(PLOT.right + 42, row, name),
  ];
}

function text(x: number, y: number, words: string, more = ''): string {
  return `<text x="${at(x)}" y="${at(y)}"${more && ` ${more}`}>${escapeHtml(words)}</text>`;
}

function at(place: number): string {
  return String(Number(place.toFixed(1)));
}
