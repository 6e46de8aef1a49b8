import { BrokenDocument } from '../broken.ts';
import { attributeOf, childOf, childrenOf, type Element, elementsOf, isNamed, leadingText } from '../xml.ts';
import { EMU_PER_POINT, halfPoints, isOn, oneOf, required, twips, W } from './values.ts';

const ALIGNMENTS = 'left center right both distribute mediumKashida highKashida lowKashida thaiDistribute'.split(' ');
const TAB_ALIGNMENTS = 'left center right decimal bar list clear end num start'.split(' ');

export interface TabStop {
  alignment: string;
  /** EMU from the paragraph's edge. */
  position: number;
}

/**
 * A paragraph as python-docx sees it: of its text what stands in runs, alone or in a hyperlink; of its format what it
 * says itself, nothing from styles.
 */
export class Paragraph {
  private readonly element: Element;

  constructor(element: Element) {
    this.element = element;
  }

  get text(): string {
    return elementsOf(this.element)
      .map((child) => {
        if (isNamed(child, W, 'r')) return textOfRun(child);
        return isNamed(child, W, 'hyperlink') ? childrenOf(child, W, 'r').map(textOfRun).join('') : '';
      })
      .join('');
  }

  /** The runs outside hyperlinks. */
  get runs(): Run[] {
    return childrenOf(this.element, W, 'r').map((run) => new Run(run));
  }

  /** Its own `w:jc`; null where it has none. Throws a BrokenDocument for one that python-docx does not know (`start`). */
  get alignment(): string | null {
    const jc = this.property('jc');
    return jc === undefined ? null : oneOf(required(jc, 'val'), ALIGNMENTS, jc);
  }

  /** Lines as a multiple of the line's height, or a height in EMU; null where it says nothing. */
  get lineSpacing(): number | null {
    const spacing = this.property('spacing');
    const line = spacing && attributeOf(spacing, 'line', W);
    if (spacing === undefined || line === undefined) return null;
    const rule = oneOf(attributeOf(spacing, 'lineRule', W) ?? 'auto', ['auto', 'exact', 'atLeast'], spacing);
    const height = twips(line, true);
    return rule === 'auto' ? height / (12 * EMU_PER_POINT) : height;
  }

  get tabStops(): TabStop[] {
    const tabs = this.property('tabs');
    return (tabs === undefined ? [] : childrenOf(tabs, W, 'tab')).map((tab) => ({
      alignment: oneOf(required(tab, 'val'), TAB_ALIGNMENTS, tab),
      position: twips(required(tab, 'pos'), true),
    }));
  }

  private property(name: string): Element | undefined {
    const properties = childOf(this.element, W, 'pPr');
    return properties && childOf(properties, W, name);
  }
}

/** A run of text with one format: what it says itself, undefined where a style decides. */
export class Run {
  readonly element: Element;

  constructor(element: Element) {
    this.element = element;
  }

  get text(): string {
    return textOfRun(this.element);
  }

  get isItalic(): boolean | undefined {
    return this.flag('i');
  }

  get isStruck(): boolean | undefined {
    return this.flag('strike');
  }

  get isSubscript(): boolean {
    const align = this.property('vertAlign');
    return align !== undefined && required(align, 'val') === 'subscript';
  }

  /** The font of Latin text. */
  get fontName(): string | undefined {
    const fonts = this.property('rFonts');
    return fonts && attributeOf(fonts, 'ascii', W);
  }

  /** In points. */
  get fontSize(): number | undefined {
    const size = this.property('sz');
    return size && halfPoints(required(size, 'val')) / EMU_PER_POINT;
  }

  /** R, G, B 0..255; undefined where it says none, or leaves it to the reader (`auto`). */
  get color(): [number, number, number] | undefined {
    const color = this.property('color');
    const value = color && required(color, 'val');
    if (value === undefined || value === 'auto') return undefined;
    if (!/^[0-9a-f]{6}$/i.test(value)) throw new BrokenDocument(`${JSON.stringify(value)} is no colour`);
    const level = (at: number) => Number.parseInt(value.slice(at, at + 2), 16);
    return [level(0), level(2), level(4)];
  }

  private flag(name: string): boolean | undefined {
    const property = this.property(name);
    return property && isOn(property);
  }

  private property(name: string): Element | undefined {
    const properties = childOf(this.element, W, 'rPr');
    return properties && childOf(properties, W, name);
  }
}

function textOfRun(run: Element): string {
  return elementsOf(run).map(textOfPiece).join('');
}

function textOfPiece(piece: Element): string {
  if (piece.namespaceURI !== W) return '';
  if (piece.localName === 't') return leadingText(piece);
  if (piece.localName === 'tab' || piece.localName === 'ptab') return '\t';
  if (piece.localName === 'br') return (attributeOf(piece, 'type', W) ?? 'textWrapping') === 'textWrapping' ? '\n' : '';
  if (piece.localName === 'cr') return '\n';
  return piece.localName === 'noBreakHyphen' ? '-' : '';
}
