import { type Range, rangesOf } from './ranges.ts';
import type { DifferentialStyle, Styles } from './styles.ts';
import { child, children, flagOf, numberOf, type XmlNode } from './tree.ts';
import type { Worksheet } from './workbook.ts';

/** What a sheet has besides cells: its view, validations, conditional formats, filters, links. */

export interface Pane {
  state: string;
  columns: number;
  rows: number;
  topLeft: string | null;
}

/** How the sheet's view is split; null where it is not. */
export function paneOf(sheet: Worksheet): Pane | null {
  const pane = child(viewOf(sheet), 'pane')?.attributes;
  if (pane === undefined) return null;
  return {
    state: pane.state ?? 'split',
    columns: Math.trunc(numberOf(pane.xSplit) ?? 0),
    rows: Math.trunc(numberOf(pane.ySplit) ?? 0),
    topLeft: pane.topLeftCell ?? null,
  };
}

/** Percent; 100 where the sheet does not say. */
export function zoomOf(sheet: Worksheet): number {
  return numberOf(viewOf(sheet)?.attributes.zoomScale) || 100;
}

function viewOf(sheet: Worksheet): XmlNode | undefined {
  return child(child(sheet.root, 'sheetViews'), 'sheetView');
}

export interface Validation {
  ranges: Range[];
  /** Its attributes and formulas by their names in the file, defaults filled in; null where there is none. */
  properties: Record<string, string | boolean | null>;
}

const FLAGS = ['allowBlank', 'showDropDown', 'showInputMessage', 'showErrorMessage'];
const TEXTS = ['type', 'operator', 'error', 'errorTitle', 'errorStyle', 'prompt', 'promptTitle', 'imeMode'];

/** The sheet's data validations. */
export function validationsOf(sheet: Worksheet): Validation[] {
  return children(child(sheet.root, 'dataValidations'), 'dataValidation').map((element) => {
    const { attributes } = element;
    // "none" is how the file says that there is no type or no input mode.
    const text = (name: string) => (attributes[name] === 'none' ? null : (attributes[name] ?? null));
    return {
      ranges: rangesOf(attributes.sqref ?? ''),
      properties: {
        ...Object.fromEntries(FLAGS.map((name) => [name, flagOf(attributes[name], false)])),
        ...Object.fromEntries(TEXTS.map((name) => [name, text(name)])),
        formula1: child(element, 'formula1')?.text ?? null,
        formula2: child(element, 'formula2')?.text ?? null,
      },
    };
  });
}

export interface ConditionalRule {
  type: string;
  /** The rule of the least priority wins. */
  priority: number;
  operator: string | null;
  formulas: string[];
  style: DifferentialStyle | null;
}

export interface ConditionalFormat {
  ranges: Range[];
  rules: ConditionalRule[];
}

/** The sheet's conditional formats in their order. Throws an Error where one has a style that is not there. */
export function conditionalFormatsOf(sheet: Worksheet, styles: Styles): ConditionalFormat[] {
  return children(sheet.root, 'conditionalFormatting').map((element) => ({
    ranges: rangesOf(element.attributes.sqref ?? ''),
    rules: children(element, 'cfRule').map((rule) => {
      const id = numberOf(rule.attributes.dxfId);
      const style = id === null ? null : styles.differential[id];
      if (style === undefined) throw new Error(`a conditional format has the unknown style ${id}`);
      return {
        type: rule.attributes.type ?? '',
        priority: Number(rule.attributes.priority ?? 0),
        operator: rule.attributes.operator ?? null,
        formulas: children(rule, 'formula').map(({ text }) => text),
        style,
      };
    }),
  }));
}

/** Where cells lead to, by name of the cell. */
export function linksOf(sheet: Worksheet): Map<string, Record<string, string>> {
  return new Map(
    children(child(sheet.root, 'hyperlinks'), 'hyperlink').map(({ attributes }) => [attributes.ref ?? '', attributes]),
  );
}
