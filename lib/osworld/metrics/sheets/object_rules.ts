import type { Fields } from '../../fields.ts';
import { type Chart, chartsOf } from '../../formats/xlsx/charts.ts';
import { type Pivot, pivotsOf } from '../../formats/xlsx/pivots.ts';
import { child, descendants } from '../../formats/xlsx/tree.ts';
import type { Workbook, Worksheet } from '../../formats/xlsx/workbook.ts';
import type { Books } from './books.ts';
import { sameFacts } from './feature_rules.ts';
import { strip } from './python.ts';
import { rawPathOf } from './raw_cell.ts';

/** The rules about charts, pivot tables and sparklines. */
export const objectRules = { chart, pivot_table: pivotTable, sparkline };

/** Size in centimetres that OSWorld's reader gives every chart, whatever the file says. */
const CHART_SIZE = { width: 15, height: 7.5 };

/** `{sheet_idx0, sheet_idx1, chart_props}`: charts of the same series, alike in those properties. */
function chart(rule: Fields, books: Books): boolean {
  const names = rule.texts('chart_props', []);
  const known = ['title', 'legend', 'anchor', 'width', 'height', 'type', 'direction', 'xtitle', 'ytitle', 'ztitle'];
  if (names.some((name) => !known.includes(name))) throw rule.wrong('chart_props', `some of ${known.join(', ')}`);
  return sameFacts(rule, books, (sheet, { book }) => {
    const facts = chartsOf(sheet, book.workbook.parts).map((one) => {
      const series = one.series.map(({ values, categories }) => `${values},${categories}`).join(';');
      return [series, Object.fromEntries(names.map((name) => [name, chartFact(one, name, books.isStrict)]))];
    });
    return Object.fromEntries(facts);
  });
}

function chartFact(one: Chart, name: string, isStrict: boolean): unknown {
  if (name === 'width' || name === 'height') return CHART_SIZE[name];
  if (name === 'anchor') return anchorFact(one, isStrict);
  if (name === 'direction') {
    if (one.direction === undefined) throw new Error(`a ${one.type} has no direction`);
    return one.direction;
  }
  if (name === 'title' || name === 'legend' || name === 'type') return one[name];
  return one.titles[name[0] as 'x' | 'y' | 'z'];
}

/** OSWorld takes the last row twice, and never the first. */
function anchorFact({ anchor }: Chart, isStrict: boolean): unknown[] {
  const { from, to } = anchor;
  if (anchor.kind !== 'twoCellAnchor' || from === null || to === null) throw new Error('a chart lies in no two cells');
  return [anchor.editAs, from.column, isStrict ? from.row : to.row, to.column, to.row];
}

/** `{sheet_idx0, sheet_idx1, pivot_props}`: pivot tables of the same source, alike in those properties. */
function pivotTable(rule: Fields, books: Books): boolean {
  const names = rule.texts('pivot_props', []);
  return sameFacts(rule, books, (sheet, { book }) => pivotFacts(sheet, book.workbook, new Set(names)));
}

function pivotFacts(sheet: Worksheet, workbook: Workbook, names: ReadonlySet<string>): Record<string, unknown> {
  return Object.fromEntries(
    pivotsOf(sheet, workbook).map((pivot) => {
      // Columns before the first used field and after the last do not count: the source may be wider or narrower.
      const used = pivot.items.flatMap((items, field) => (items.length === 0 ? [] : [field]));
      const first = used[0] ?? pivot.items.length;
      const last = used.at(-1) ?? pivot.items.length - 1;
      const { type, from, to, sheet: name } = pivot.source;
      const end = to.column - (pivot.items.length - 1 - last);
      const key = [type, from.row, from.column + first, to.row, end, name].join(';');
      return [key, pivotFact(pivot, pivot.items.slice(first, last + 1), first, names)];
    }),
  );
}

function pivotFact(
  pivot: Pivot,
  items: Pivot['items'],
  first: number,
  names: ReadonlySet<string>,
): Record<string, unknown> {
  const shift = (fields: number[]) => fields.map((field) => field - first);
  const selection = items.map((field) => {
    const keys = field.map(({ hidden, item }) => `${hidden};${item}`);
    return names.has('ordered') ? keys : distinct(keys);
  });
  const data = pivot.dataFields.map(({ field, name, subtotal, showAs }) => {
    return [field - first, names.has('data_fields_name') ? name : '', subtotal, showAs].join(';');
  });
  const facts: Record<string, unknown> = {
    name: pivot.name,
    show_total: pivot.showTotals,
    show_empty_row: pivot.showEmptyRow,
    show_empty_col: pivot.showEmptyColumn,
    show_headers: pivot.showHeaders,
    location: pivot.location,
    selection,
    filter: [selection, distinct(pivot.pageFields)],
    col_fields: shift(pivot.columnFields),
    row_fields: shift(pivot.rowFields),
    data_fields: data,
  };
  return Object.fromEntries(Object.entries(facts).filter(([name]) => names.has(name)));
}

function distinct<T>(values: T[]): T[] {
  return [...new Set(values)].sort();
}

/** `{sheet_idx0, sheet_idx1}`: the same sparklines, each by its cell and the cells that it draws. */
function sparkline(rule: Fields, books: Books): boolean {
  return sameFacts(rule, books, (sheet, { book: { workbook } }) => {
    const root = workbook.parts.part(books.isStrict ? sheet.path : (rawPathOf(workbook, sheet.name) ?? ''));
    const lines = descendants(root, 'sparkline').map((line) => {
      const place = child(line, 'sqref');
      const source = child(line, 'f');
      if (place === undefined || source === undefined) throw new Error('a sparkline lacks its place or its source');
      return [strip(place.text), strip(source.text)];
    });
    return Object.fromEntries(lines);
  });
}
