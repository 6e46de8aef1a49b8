import { type Position, positionOf } from './ranges.ts';
import { child, children, flagOf, numberOf, type XmlNode } from './tree.ts';
import type { Workbook, Worksheet } from './workbook.ts';

/** A pivot table of a sheet, as far as evaluators ask. Fields are counted from 0 in the source's columns. */
export interface Pivot {
  name: string | null;
  source: { type: string | null; from: Position; to: Position; sheet: string | null };
  /** Items shown of each field: whether one is hidden (null where the file does not say) and its number. */
  items: { hidden: boolean | null; item: number }[][];
  pageFields: number[];
  columnFields: number[];
  rowFields: number[];
  dataFields: { field: number; name: string | null; subtotal: string; showAs: string }[];
  showTotals: boolean;
  showEmptyRow: boolean;
  showEmptyColumn: boolean;
  showHeaders: boolean;
  /** Attributes of its place. */
  location: Record<string, string>;
}

/** The pivot tables of a sheet. Throws an Error where one has no range of a sheet as its source. */
export function pivotsOf(sheet: Worksheet, workbook: Workbook): Pivot[] {
  const { parts } = workbook;
  const caches = children(child(workbook.root, 'pivotCaches'), 'pivotCache');
  return parts
    .relationships(sheet.path)
    .filter(({ kind }) => kind === 'pivotTable')
    .map(({ target }) => {
      const table = parts.part(target);
      const entry = caches.find(({ attributes }) => attributes.cacheId === table.attributes.cacheId);
      const path = parts.target(workbook.path, entry?.attributes['r:id']);
      if (path === undefined) throw new Error('a pivot table has no cache');
      return pivotOf(table, parts.part(path));
    });
}

function pivotOf(table: XmlNode, cache: XmlNode): Pivot {
  const source = child(cache, 'cacheSource');
  const range = child(source, 'worksheetSource')?.attributes ?? {};
  const [from, to] = (range.ref ?? '').split(':');
  if (!from || !to) throw new Error('a pivot table does not come from a range');
  const { attributes } = table;
  const fields = (list: string, item: string, attribute: string) =>
    children(child(table, list), item).map((element) => Number(element.attributes[attribute]));
  return {
    name: attributes.name ?? null,
    source: {
      type: source?.attributes.type ?? null,
      from: positionOf(from),
      to: positionOf(to),
      sheet: range.sheet ?? null,
    },
    items: children(child(table, 'pivotFields'), 'pivotField').map(itemsOf),
    pageFields: fields('pageFields', 'pageField', 'fld'),
    columnFields: fields('colFields', 'field', 'x'),
    rowFields: fields('rowFields', 'field', 'x'),
    dataFields: children(child(table, 'dataFields'), 'dataField').map(({ attributes: field }) => ({
      field: Number(field.fld),
      name: field.name ?? null,
      subtotal: field.subtotal ?? 'sum',
      showAs: field.showDataAs ?? 'normal',
    })),
    showTotals: flagOf(attributes.visualTotals, true),
    showEmptyRow: flagOf(attributes.showEmptyRow, false),
    showEmptyColumn: flagOf(attributes.showEmptyCol, false),
    showHeaders: flagOf(attributes.showHeaders, true),
    location: child(table, 'location')?.attributes ?? {},
  };
}

function itemsOf(field: XmlNode): { hidden: boolean | null; item: number }[] {
  return children(child(field, 'items'), 'item').flatMap(({ attributes }) => {
    const item = numberOf(attributes.x);
    return item === null ? [] : [{ hidden: flagOf(attributes.h, null), item }];
  });
}
