import type { OfficePackage } from './package.ts';
import { child, children, descend, numberOf, type XmlNode } from './tree.ts';
import type { Worksheet } from './workbook.ts';

/** A chart of a sheet, as far as evaluators ask. */
export interface Chart {
  /** Element name of its first plot: `barChart`, `lineChart`, `scatterChart`, … */
  type: string;
  /** `bar` or `col`; undefined for a plot that has no direction. */
  direction: string | undefined;
  /** Formulas of values and categories, `''` where a series has none, in the order of the series. */
  series: { values: string; categories: string }[];
  /** First run of the title's text; null without a title. */
  title: string | null;
  titles: { x: string | null; y: string | null; z: string | null };
  /** `b`, `tr`, `l`, `r`, `t`; null without a legend. */
  legend: string | null;
  anchor: ChartAnchor;
}

export interface ChartAnchor {
  kind: string;
  editAs: string | null;
  from: { column: number; row: number } | null;
  to: { column: number; row: number } | null;
}

const PLOTS =
  /^(area|area3D|line|line3D|stock|radar|scatter|pie|pie3D|doughnut|bar|bar3D|ofPie|surface|surface3D|bubble)Chart$/;
/** The order in which openpyxl takes the anchors of a drawing. */
const ANCHORS = ['absoluteAnchor', 'oneCellAnchor', 'twoCellAnchor'];

/** The charts of a sheet. Throws an Error where one of them cannot be read. */
export function chartsOf(sheet: Worksheet, parts: OfficePackage): Chart[] {
  const drawings = parts.relationships(sheet.path).filter(({ kind }) => kind === 'drawing');
  return drawings.flatMap(({ target }) => {
    const root = parts.part(target);
    return ANCHORS.flatMap((name) => children(root, name)).flatMap((anchor) => {
      const reference = descend(anchor, 'graphicFrame', 'graphic', 'graphicData', 'chart');
      if (reference === undefined) return [];
      const path = parts.target(target, reference.attributes['r:id'] ?? reference.attributes.id);
      return path === undefined ? [] : [chartOf(parts.part(path), anchor)];
    });
  });
}

function chartOf(space: XmlNode, anchor: XmlNode): Chart {
  const chart = child(space, 'chart');
  const area = child(chart, 'plotArea');
  const plot = area?.children.find(({ name }) => PLOTS.test(name));
  if (chart === undefined || area === undefined || plot === undefined) throw new Error('a chart has no plot');
  const legend = child(chart, 'legend');
  const direction = plot.name.startsWith('bar') ? (valOf(plot, 'barDir') ?? 'col') : undefined;
  return {
    type: plot.name,
    direction,
    series: children(plot, 'ser')
      .map((series, index) => ({ series, order: numberOf(valOf(series, 'order')) ?? index }))
      .sort((a, b) => a.order - b.order)
      .map(({ series }) => ({
        values: formulaOf(series, 'val', ['numRef']),
        categories: formulaOf(series, 'cat', ['numRef', 'strRef']),
      })),
    title: titleOf(child(chart, 'title')),
    titles: axisTitles(plot, area),
    legend: legend === undefined ? null : (valOf(legend, 'legendPos') ?? 'r'),
    anchor: {
      kind: anchor.name,
      editAs: anchor.attributes.editAs ?? null,
      from: markerOf(anchor, 'from'),
      to: markerOf(anchor, 'to'),
    },
  };
}

function valOf(parent: XmlNode, name: string): string | undefined {
  return child(parent, name)?.attributes.val;
}

function formulaOf(series: XmlNode, name: string, kinds: string[]): string {
  const reference = kinds.map((kind) => descend(series, name, kind)).find((found) => found !== undefined);
  const formula = child(reference, 'f');
  return formula?.text ?? '';
}

/** A title without text of its own counts as an empty one. */
function titleOf(title: XmlNode | undefined): string | null {
  if (title === undefined) return null;
  const rich = descend(title, 'tx', 'rich');
  return descend(rich, 'p', 'r', 't')?.text ?? '';
}

/** Titles of the axes that the plot names; scatter and bubble charts count theirs as x and y in that order. */
function axisTitles(plot: XmlNode, area: XmlNode): Chart['titles'] {
  const axes = children(plot, 'axId')
    .map(({ attributes }) => area.children.find((axis) => valOf(axis, 'axId') === attributes.val))
    .filter((axis) => axis !== undefined);
  const isPair = plot.name === 'scatterChart' || plot.name === 'bubbleChart';
  const named = (...names: string[]) => axes.findLast(({ name }) => names.includes(name));
  const [x, y] = isPair ? axes : [named('catAx', 'dateAx'), named('valAx')];
  return { x: titleOf(child(x, 'title')), y: titleOf(child(y, 'title')), z: titleOf(child(named('serAx'), 'title')) };
}

function markerOf(anchor: XmlNode, name: string): { column: number; row: number } | null {
  const marker = child(anchor, name);
  if (marker === undefined) return null;
  return { column: Number(child(marker, 'col')?.text ?? 0), row: Number(child(marker, 'row')?.text ?? 0) };
}
