import { BUILTIN_FORMATS, isDateFormat, isSpanFormat } from './dates.ts';
import type { OfficePackage } from './package.ts';
import { child, children, descendants, flagOf, numberOf, type XmlNode } from './tree.ts';

/** A colour as a workbook names it: ARGB, a place in the theme (with a tint), an index of the palette, or automatic. */
export type Color =
  | { kind: 'rgb'; rgb: string }
  | { kind: 'theme'; theme: number; tint: number }
  | { kind: 'indexed'; indexed: number }
  | { kind: 'auto' };

export interface Font {
  name: string | null;
  family: number | null;
  size: number | null;
  bold: boolean;
  italic: boolean;
  underline: string | null;
  color: Color | null;
}

export type Fill =
  | { tag: 'patternFill'; foreground: Color; background: Color }
  | { tag: 'gradientFill'; foreground: null; background: null };

export interface CellStyle {
  font: Font;
  fill: Fill;
  numberFormat: string;
  isDate: boolean;
  isSpan: boolean;
}

/** What a conditional format puts on; null where it leaves the cell's own. */
export interface DifferentialStyle {
  font: Font | null;
  fill: Fill | null;
  numberFormat: string | null;
}

export interface Styles {
  /** By the `s` of a cell. */
  cells: CellStyle[];
  /** Of a cell that the sheet does not hold. */
  plain: CellStyle;
  /** By the `dxfId` of a conditional format. */
  differential: DifferentialStyle[];
  /** ARGB by the index of old palettes, where the workbook has its own. */
  palette: string[] | null;
  /** RRGGBB of the theme: in the order that `theme` counts. */
  theme: string[];
}

const NO_COLOR: Color = { kind: 'rgb', rgb: '00000000' };
const NO_FILL: Fill = { tag: 'patternFill', foreground: NO_COLOR, background: NO_COLOR };
/** The font of workbooks without styles. */
const DEFAULT_FONT: Font = {
  name: 'Calibri',
  family: 2,
  size: 11,
  bold: false,
  italic: false,
  underline: null,
  color: { kind: 'theme', theme: 1, tint: 0 },
};

/** Reads `xl/styles.xml` and the theme; a workbook without them gets the defaults. */
export function readStyles(parts: OfficePackage): Styles {
  const root = parts.tree('xl/styles.xml');
  const fonts = children(child(root, 'fonts'), 'font').map(fontOf);
  const fills = children(child(root, 'fills'), 'fill').map(fillOf);
  const formats = new Map(
    children(child(root, 'numFmts'), 'numFmt').map(({ attributes }) => [
      Number(attributes.numFmtId),
      attributes.formatCode ?? '',
    ]),
  );
  const cells = children(child(root, 'cellXfs'), 'xf').map(({ attributes }): CellStyle => {
    const id = Number(attributes.numFmtId ?? 0);
    const format = formats.get(id) ?? BUILTIN_FORMATS[id];
    return {
      font: fonts[Number(attributes.fontId ?? 0)] ?? DEFAULT_FONT,
      fill: fills[Number(attributes.fillId ?? 0)] ?? NO_FILL,
      numberFormat: format ?? 'General',
      isDate: isDateFormat(format),
      isSpan: isSpanFormat(format),
    };
  });
  const plain = {
    font: fonts[0] ?? DEFAULT_FONT,
    fill: fills[0] ?? NO_FILL,
    numberFormat: 'General',
    isDate: false,
    isSpan: false,
  };
  const palette = children(child(child(root, 'colors'), 'indexedColors'), 'rgbColor');
  return {
    cells: cells.length === 0 ? [plain] : cells,
    plain,
    differential: children(child(root, 'dxfs'), 'dxf').map(differentialOf),
    palette: palette.length === 0 ? null : palette.map(({ attributes }) => argb(attributes.rgb ?? '')),
    theme: themeOf(parts),
  };
}

function fontOf(node: XmlNode): Font {
  const value = (name: string) => child(node, name)?.attributes.val;
  const isOn = (name: string) => {
    const element = child(node, name);
    return element !== undefined && flagOf(element.attributes.val, true) === true;
  };
  const underline = child(node, 'u');
  const underlined = underline === undefined ? null : (underline.attributes.val ?? 'single');
  const color = child(node, 'color');
  return {
    name: value('name') ?? null,
    family: numberOf(value('family')),
    size: numberOf(value('sz')),
    bold: isOn('b'),
    italic: isOn('i'),
    underline: underlined === 'none' ? null : underlined,
    color: color === undefined ? null : colorOf(color),
  };
}

function fillOf(node: XmlNode): Fill {
  const fill = node.children[0];
  if (fill?.name === 'gradientFill') return { tag: 'gradientFill', foreground: null, background: null };
  const color = (name: string) => {
    const element = child(fill, name);
    return element === undefined ? NO_COLOR : colorOf(element);
  };
  return { tag: 'patternFill', foreground: color('fgColor'), background: color('bgColor') };
}

function differentialOf(node: XmlNode): DifferentialStyle {
  const font = child(node, 'font');
  const fill = child(node, 'fill');
  return {
    font: font === undefined ? null : fontOf(font),
    fill: fill === undefined ? null : fillOf(fill),
    numberFormat: child(node, 'numFmt')?.attributes.formatCode ?? null,
  };
}

function colorOf({ attributes }: XmlNode): Color {
  if (attributes.indexed !== undefined) return { kind: 'indexed', indexed: Number(attributes.indexed) };
  if (attributes.theme !== undefined) {
    return { kind: 'theme', theme: Number(attributes.theme), tint: Number(attributes.tint ?? 0) };
  }
  if (attributes.auto !== undefined) return { kind: 'auto' };
  return { kind: 'rgb', rgb: argb(attributes.rgb ?? '00000000') };
}

/** Six digits are a colour without alpha: a reader of workbooks puts `00` before them. */
function argb(text: string): string {
  return text.length === 6 ? `00${text}` : text;
}

/** The theme's colours; its file names dark before light, `theme` counts light first. */
function themeOf(parts: OfficePackage): string[] {
  const root = parts.tree('xl/theme/theme1.xml');
  const scheme = root && descendants(root, 'clrScheme')[0];
  const colors = (scheme?.children ?? []).map(({ children: [color] }) => {
    return color?.attributes.lastClr ?? color?.attributes.val ?? '000000';
  });
  const [dark1, light1, dark2, light2, ...rest] = colors;
  return light2 === undefined ? colors : [light1!, dark1!, light2, dark2!, ...rest];
}
