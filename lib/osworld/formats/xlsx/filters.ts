import { child, children, flagOf, numberOf, type XmlNode } from './tree.ts';
import type { Worksheet } from './workbook.ts';

/** The sheet's automatic filter as plain data: `ref`, `filter_column` by number of column, `sort_state` if there is one. */
export function filtersOf(sheet: Worksheet): Record<string, unknown> {
  const filter = child(sheet.root, 'autoFilter');
  const columns = children(filter, 'filterColumn').map(columnOf);
  const sort = child(filter, 'sortState');
  return {
    ref: cellRange(filter?.attributes.ref),
    filter_column: columns.sort((a, b) => Number(a.col_id) - Number(b.col_id)),
    ...(sort === undefined ? {} : { sort_state: sortOf(sort) }),
  };
}

function cellRange(ref: string | undefined): string | null {
  return ref === undefined ? null : ref.toUpperCase();
}

function columnOf(column: XmlNode): Record<string, unknown> {
  const { attributes } = column;
  const filters = child(column, 'filters');
  const custom = child(column, 'customFilters');
  return {
    col_id: numberOf(attributes.colId),
    hidden_button: flagOf(attributes.hiddenButton, false),
    show_button: flagOf(attributes.showButton, true),
    ...(filters === undefined
      ? {}
      : {
          filters_blank: flagOf(filters.attributes.blank, null),
          filters: distinct(children(filters, 'filter').map((item) => item.attributes.val ?? null)),
        }),
    ...(custom === undefined
      ? {}
      : {
          custom_filters_op: flagOf(custom.attributes.and, null),
          custom_filters: distinct(
            children(custom, 'customFilter').map(({ attributes: { operator, val } }) => [
              operator ?? 'equal',
              val ?? null,
            ]),
          ),
        }),
  };
}

function sortOf({ attributes, children: conditions }: XmlNode): Record<string, unknown> {
  return {
    sort: flagOf(attributes.columnSort, null),
    case: flagOf(attributes.caseSensitive, null),
    method: attributes.sortMethod === 'none' ? null : (attributes.sortMethod ?? null),
    ref: cellRange(attributes.ref),
    condition: conditions
      .filter(({ name }) => name === 'sortCondition')
      .map(({ attributes: condition }) => ({
        descending: flagOf(condition.descending, null),
        key: condition.sortBy ?? null,
        ref: cellRange(condition.ref),
        custom_list: condition.customList ?? null,
        dxf_id: numberOf(condition.dxfId),
        icon: condition.iconSet ?? null,
        iconid: numberOf(condition.iconId),
      })),
  };
}

/** The distinct values in one order, so that two sets compare as lists. */
function distinct(values: unknown[]): string[] {
  return [...new Set(values.map((value) => JSON.stringify(value)))].sort();
}
