import { attributeOf, childOf, childrenOf, type Element, elementsOf, isNamed, leadingText, parseXml } from '../xml.ts';
import { fillRgb } from './fill.ts';
import { A } from './package.ts';
import { flag, integer, oneOf, type Rgb, required } from './values.ts';

const ALIGNMENTS = ['l', 'ctr', 'r', 'just', 'justLow', 'dist', 'thaiDist'];
const UNDERLINES = [
  ...['none', 'words', 'sng', 'dbl', 'heavy', 'dotted', 'dottedHeavy', 'dash', 'dashHeavy', 'dashLong'],
  ...['dashLongHeavy', 'dotDash', 'dotDashHeavy', 'dotDotDash', 'dotDotDashHeavy', 'wavy', 'wavyHeavy', 'wavyDbl'],
];

/** A piece of text with one look. What it does not say itself is null: it may inherit it. */
export class Run {
  private readonly element: Element;
  private readonly look: Element | undefined;

  constructor(element: Element) {
    this.element = element;
    this.look = childOf(element, A, 'rPr');
  }

  get text(): string {
    return textOf(this.element);
  }

  /** Name of the font for Latin letters. */
  get fontName(): string | null {
    const latin = this.look && childOf(this.look, A, 'latin');
    return latin ? required(latin, 'typeface') : null;
  }

  /** In hundredths of a point. */
  get size(): number | null {
    const size = this.look && attributeOf(this.look, 'sz');
    return size === undefined ? null : integer(size);
  }

  get bold(): boolean | null {
    return this.look ? flag(this.look, 'b') : null;
  }

  get italic(): boolean | null {
    return this.look ? flag(this.look, 'i') : null;
  }

  /** `none`, `sng`, `dbl`, … */
  get underline(): string | null {
    return this.look ? oneOf(this.look, 'u', UNDERLINES, null) : null;
  }

  /** Only a colour that is given as red, green and blue; a theme's colour is null. */
  get colour(): Rgb | null {
    return this.look ? fillRgb(this.look) : null;
  }

  /** `sngStrike`, `dblStrike` or `noStrike`, as written. */
  get strike(): string | null {
    return (this.look && attributeOf(this.look, 'strike')) ?? null;
  }
}

/** A paragraph of a shape or of a cell. */
export class Paragraph {
  readonly element: Element;

  constructor(element: Element) {
    this.element = element;
  }

  get properties(): Element | undefined {
    return childOf(this.element, A, 'pPr');
  }

  /** `l`, `ctr`, `r`, `just`, …; null where it is inherited. */
  get alignment(): string | null {
    return this.properties ? oneOf(this.properties, 'algn', ALIGNMENTS, null) : null;
  }

  /** Depth of indentation, 0..8. */
  get level(): number {
    const level = this.properties && attributeOf(this.properties, 'lvl');
    return level === undefined ? 0 : integer(level);
  }

  get runs(): Run[] {
    return childrenOf(this.element, A, 'r').map((element) => new Run(element));
  }

  /** Text of runs and fields; a line break is a vertical tab. */
  get text(): string {
    const parts = elementsOf(this.element).map((child) => {
      if (isNamed(child, A, 'br')) return '\v';
      if (isNamed(child, A, 'r')) return textOf(child);
      const text = isNamed(child, A, 'fld') ? childOf(child, A, 't') : undefined;
      return text ? leadingText(text) : '';
    });
    return parts.join('');
  }
}

const EMPTY = new Paragraph(parseXml(`<a:p xmlns:a="${A}"/>`));

/** The paragraphs of a text body; one without text where there is no body. */
export function paragraphsOf(body: Element | undefined): Paragraph[] {
  if (body === undefined) return [EMPTY];
  return childrenOf(body, A, 'p').map((element) => new Paragraph(element));
}

/** Paragraphs as one text, a line each. */
export function joinParagraphs(paragraphs: Paragraph[]): string {
  return paragraphs.map((paragraph) => paragraph.text).join('\n');
}

function textOf(run: Element): string {
  const text = childOf(run, A, 't');
  if (text === undefined) throw new Error('a run has no text element');
  return leadingText(text);
}
