import { Fields } from '../../fields.ts';
import { shownColor } from '../../formats/xlsx/colors.ts';
import { linksOf } from '../../formats/xlsx/features.ts';
import { cellsIn, nameOf, positionOf, rangeOf } from '../../formats/xlsx/ranges.ts';
import type { CellStyle, Color, DifferentialStyle, Styles } from '../../formats/xlsx/styles.ts';
import type { Worksheet } from '../../formats/xlsx/workbook.ts';
import { AgentFault, type Books, type Target } from './books.ts';
import { activeStyles } from './conditional.ts';
import { sameFacts } from './feature_rules.ts';
import { RawReader } from './raw_cell.ts';
import { meetsRule, type RuleValue } from './value_rule.ts';

/** The rules about the looks of cells. */
export const styleRules = { style, check_cell: checkCell };

const PROPERTIES = [
  'number_format',
  'font_name',
  'font_family',
  'font_color',
  'font_bold',
  'font_italic',
  'font_underline',
  'font_size',
  'fill_type',
  'bgcolor',
  'fgcolor',
  'hyperlink',
  'merge',
];
/** OSWorld cannot tell colours of the theme, of the palette and automatic ones from each other. */
const SOME_COLOR = { color: 'not written as RGB' };

/** `{sheet_idx0, sheet_idx1, props}`: every cell looks alike in those properties, conditional formats put on. */
function style(rule: Fields, books: Books): boolean {
  const names = rule.texts('props', []);
  if (names.some((name) => !PROPERTIES.includes(name))) {
    throw rule.wrong('props', `some of ${PROPERTIES.join(', ')}`);
  }
  return sameFacts(rule, books, (sheet, target) => {
    const looks = new Looks(sheet, target, books.isStrict);
    const facts: Record<string, unknown> = {};
    if (sheet.lastRow > 0) {
      for (const cell of cellsIn({ left: 1, top: 1, right: sheet.lastColumn, bottom: sheet.lastRow })) {
        facts[nameOf(cell)] = names.map((name) => looks.read(name, nameOf(cell), null));
      }
    }
    for (const [cell, differential] of activeStyles(sheet, target, books)) {
      facts[cell] = names.map((name) => looks.read(name, cell, differential));
    }
    return facts;
  });
}

/** `{sheet_idx, coordinate, props: {value or a property of style: {method, ref}}}`. */
function checkCell(rule: Fields, books: Books): boolean {
  const target = books.target(rule.values.sheet_idx, 'sheet_idx');
  const sheet = books.sheet(target);
  if (sheet === null) return false;
  const cell = nameOf(positionOf(rule.text('coordinate')));
  const raw = new RawReader(target.book.workbook, books.isStrict);
  const looks = new Looks(sheet, target, books.isStrict);
  return Object.entries(rule.object('props')).every(([name, test]) => {
    if (name !== 'value' && !PROPERTIES.includes(name)) {
      throw rule.wrong('props', `about value or some of ${PROPERTIES.join(', ')}`);
    }
    const read = () => (name === 'value' ? raw.value(target.name, cell) : looks.read(name, cell, null));
    const value = orNull(() => books.read(target, read));
    return books.read(target, () => meetsRule(value, new Fields(`${rule.owner} ${name}`, rule.where, test)));
  });
}

/** What cannot be read in the result is nothing. */
function orNull(read: () => RuleValue): RuleValue {
  try {
    return read();
  } catch (error) {
    if (error instanceof AgentFault) return null;
    throw error;
  }
}

/** How the cells of one sheet look. */
class Looks {
  private readonly sheet: Worksheet;
  private readonly styles: Styles;
  private readonly isStrict: boolean;
  private readonly links: Map<string, Record<string, string>>;

  constructor(sheet: Worksheet, { book }: Target, isStrict: boolean) {
    this.sheet = sheet;
    this.styles = book.workbook.styles;
    this.isStrict = isStrict;
    this.links = new Map(
      [...linksOf(sheet)].flatMap(([ref, link]) =>
        [...cellsIn(rangeOf(ref))].map((cell) => [nameOf(cell), { ...link, ref: nameOf(cell) }]),
      ),
    );
  }

  /** A property of a cell; `differential` is the conditional format that is on. Throws an Error where OSWorld does. */
  read(name: string, at: string, differential: DifferentialStyle | null): RuleValue {
    const cell = this.sheet.cell(at);
    if (name === 'merge') return this.sheet.covered.has(at);
    const own = cell?.style ?? this.styles.plain;
    if (name === 'fill_type') return (differential ?? own).fill?.tag ?? null;
    if (name === 'bgcolor' || name === 'fgcolor') return this.fillColor(own, differential);
    if (cell === undefined || (cell.value === null && cell.formula === null)) return null;
    if (name === 'hyperlink') return this.links.get(at) ?? '';
    if (name === 'number_format') {
      const isNumber = cell.formula === null && (typeof cell.value === 'number' || typeof cell.value === 'bigint');
      if (!isNumber) return null;
      const format = (differential ?? own).numberFormat;
      return format ?? this.missing(own.numberFormat, 'number format');
    }
    const font = (differential ?? own).font ?? this.missing(own.font, 'font');
    if (name === 'font_color') {
      if (font.color !== null) return this.color(font.color);
      return this.missing('FF000000', 'colour');
    }
    const key = name.slice('font_'.length) as 'name' | 'family' | 'bold' | 'italic' | 'underline' | 'size';
    return font[key];
  }

  private fillColor(own: CellStyle, differential: DifferentialStyle | null): RuleValue {
    const color = differential === null ? own.fill.foreground : (differential.fill?.background ?? null);
    return color === null ? null : this.color(color);
  }

  private color(color: Color): RuleValue {
    if (this.isStrict) return shownColor(color, this.styles);
    return color.kind === 'rgb' ? color.rgb : SOME_COLOR;
  }

  /** OSWorld breaks where a style does not say; `strict` takes what shows then. */
  private missing<T>(shown: T, what: string): T {
    if (this.isStrict) return shown;
    throw new Error(`a style has no ${what}`);
  }
}
