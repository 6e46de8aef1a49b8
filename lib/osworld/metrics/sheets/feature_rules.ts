import { Fields } from '../../fields.ts';
import { paneOf, type Validation, validationsOf, zoomOf } from '../../formats/xlsx/features.ts';
import { filtersOf } from '../../formats/xlsx/filters.ts';
import { readColumns, readRows } from '../../formats/xlsx/sheet.ts';
import { flagOf, numberOf } from '../../formats/xlsx/tree.ts';
import type { Worksheet } from '../../formats/xlsx/workbook.ts';
import { equal } from '../../rules.ts';
import type { Books, Target } from './books.ts';
import { bothTargets } from './data_rules.ts';
import { meetsRule, type RuleValue } from './value_rule.ts';

/** The rules about a sheet's view, validations, rows, columns and filter. */
export const featureRules = {
  freeze,
  zoom,
  data_validation: dataValidation,
  row_props: rowProps,
  col_props: colProps,
  filter,
};

/** `{sheet_idx0, sheet_idx1}`: the same rows and columns are frozen; of a mere split, the same cell shown first. */
function freeze(rule: Fields, books: Books): boolean {
  const keys = bothTargets(rule, books).map((target) => {
    const sheet = books.sheet(target);
    if (sheet === null) return undefined;
    const pane = books.read(target, () => paneOf(sheet));
    if (pane === null) return ['none'];
    const isFrozen = ['frozen', 'frozensplit'].includes(pane.state.toLowerCase());
    return isFrozen ? ['frozen', pane.columns, pane.rows] : ['other', pane.columns, pane.rows, pane.topLeft];
  });
  return keys[0] !== undefined && keys[1] !== undefined && equal(keys[0], keys[1]);
}

/** `{sheet_idx, method, ref}`: the zoom in percent. */
function zoom(rule: Fields, books: Books): boolean {
  const target = books.target(rule.values.sheet_idx, 'sheet_idx');
  const sheet = books.sheet(target);
  return sheet !== null && books.read(target, () => meetsRule(zoomOf(sheet), rule));
}

/** `{sheet_idx, dv_props: [{property: {method, ref}}]}`: each validation is as one of those says, and none is missing. */
function dataValidation(rule: Fields, books: Books): boolean {
  const target = books.target(rule.values.sheet_idx, 'sheet_idx');
  const sheet = books.sheet(target);
  if (sheet === null) return false;
  const wanted = rule.list('dv_props');
  return books.read(target, () => {
    const validations = validationsOf(sheet);
    return (
      validations.length >= wanted.length && validations.every((one) => wanted.some((set) => isAs(one, set, rule)))
    );
  });
}

function isAs({ ranges, properties }: Validation, wanted: unknown, rule: Fields): boolean {
  return Object.entries(new Fields(rule.owner, rule.where, wanted).values).every(([name, test]) => {
    const values: Record<string, RuleValue> = { ...properties, ranges, sqref: ranges, cells: ranges };
    const value = values[name];
    if (value === undefined) throw rule.wrong('dv_props', 'about properties of validations');
    return meetsRule(value, new Fields(`${rule.owner} ${name}`, rule.where, test));
  });
}

type Reading = (attributes: Record<string, string>) => unknown;
const ROW_PROPERTIES: Record<string, Reading> = {
  hidden: ({ hidden }) => flagOf(hidden, false),
  collapsed: ({ collapsed }) => flagOf(collapsed, false),
  height: ({ ht }) => numberOf(ht),
};
const COLUMN_PROPERTIES: Record<string, Reading> = {
  width: ({ width }) => numberOf(width) ?? 13,
  auto_size: ({ bestFit }) => flagOf(bestFit, false),
  hidden: ({ hidden }) => flagOf(hidden, false),
  collapsed: ({ collapsed }) => flagOf(collapsed, false),
  min: ({ min }) => numberOf(min),
  max: ({ max }) => numberOf(max),
};

/** `{sheet_idx0, sheet_idx1, props}`: the same rows are described, alike in `hidden`, `collapsed`, `height`. */
function rowProps(rule: Fields, books: Books): boolean {
  return sameProperties(rule, books, readRows, ROW_PROPERTIES);
}

/** The same for columns: `width`, `auto_size`, `hidden`, `collapsed`, `min`, `max`. */
function colProps(rule: Fields, books: Books): boolean {
  return sameProperties(rule, books, readColumns, COLUMN_PROPERTIES);
}

function sameProperties(
  rule: Fields,
  books: Books,
  read: (root: Worksheet['root']) => Map<string, Record<string, string>>,
  readings: Record<string, Reading>,
): boolean {
  const names = rule.texts('props', []);
  if (names.some((name) => readings[name] === undefined)) {
    throw rule.wrong('props', `some of ${Object.keys(readings).join(', ')}`);
  }
  return sameFacts(rule, books, (sheet) => {
    const facts = [...read(sheet.root)].map(([key, attributes]) => {
      return [key, Object.fromEntries(names.map((name) => [name, readings[name]!(attributes)]))];
    });
    return Object.fromEntries(facts);
  });
}

/** `{sheet_idx0, sheet_idx1}`: the same automatic filter. */
function filter(rule: Fields, books: Books): boolean {
  return sameFacts(rule, books, filtersOf);
}

/**
 * Whether both sheets give equal facts; a sheet that the result does not have gives none. The second, mostly the
 * expected one, is looked at first: where it breaks, no agent could be scored.
 */
export function sameFacts(
  rule: Fields,
  books: Books,
  look: (sheet: Worksheet, target: Target) => Record<string, unknown>,
): boolean {
  const [first, second] = bothTargets(rule, books);
  const facts = (target: Target) => {
    const sheet = books.sheet(target);
    return sheet === null ? {} : books.read(target, () => look(sheet, target));
  };
  const wanted = facts(second);
  return equal(facts(first), wanted);
}
