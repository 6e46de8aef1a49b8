import { attributeOf, childOf, childrenOf, type Element } from '../xml.ts';
import { backgroundOf } from './fill.ts';
import { findPlaceholder, masterOf, placeholderKind, placeholderOf, shapeElements, treeOf } from './geometry.ts';
import { P, type Part, PptxPackage, R } from './package.ts';
import { Shape } from './shape.ts';
import { joinParagraphs, paragraphsOf } from './text.ts';
import { integer } from './values.ts';

/** A slide of a presentation. */
export class Slide {
  readonly part: Part;
  private knownShapes: Shape[] | undefined;

  constructor(part: Part) {
    this.part = part;
  }

  /** Shapes from the back to the front, groups as one. Throws an Error for ink that is no shape, and an unknown placeholder. */
  get shapes(): Shape[] {
    this.knownShapes ??= shapeElements(treeOf(this.part)).map((element) => {
      if (element.localName === 'contentPart') throw new Error(`${this.part.path} holds a contentPart`);
      const placeholder = element.localName === 'sp' ? placeholderOf(element) : undefined;
      if (placeholder !== undefined) placeholderKind(placeholder);
      return new Shape(element, this.part, false);
    });
    return this.knownShapes;
  }

  /** Every shape that can hold text, those inside groups too. */
  get textShapes(): Shape[] {
    const within = (shape: Shape): Shape[] => [...(shape.hasText ? [shape] : []), ...shape.shapes.flatMap(within)];
    return this.shapes.flatMap(within);
  }

  get layout(): Part {
    const layout = this.part.relatedBy('slideLayout');
    if (layout === undefined) throw new Error(`${this.part.path} has no layout`);
    return layout;
  }

  get master(): Part {
    return masterOf(this.layout);
  }

  /** The solid fill behind the slide, its own or, where it has none, its master's; null for every other background. */
  get backgroundFill(): Element | null {
    const own = backgroundOf(this.part);
    if (own?.kind === 'solidFill') return own.fill;
    if (own?.kind !== 'noFill') return null;
    const inherited = backgroundOf(this.master);
    return inherited?.kind === 'solidFill' ? inherited.fill : null;
  }

  /** Text of the notes; '' without notes, null where the notes have no place for text. */
  get notes(): string | null {
    const notes = this.part.relatedBy('notesSlide');
    if (notes === undefined) return '';
    const body = findPlaceholder(notes, (placeholder) => placeholderKind(placeholder) === 'body');
    return body ? joinParagraphs(paragraphsOf(childOf(body, P, 'txBody'))) : null;
  }
}

/** A presentation in OOXML (.pptx). */
export class Presentation {
  private readonly main: Part;
  private knownSlides: Slide[] | undefined;

  /** Throws an Error where the bytes are no presentation. */
  constructor(bytes: Uint8Array) {
    this.main = new PptxPackage(bytes).main();
  }

  /** The slides in the order in which they are shown. */
  get slides(): Slide[] {
    this.knownSlides ??= this.listed('sldIdLst', 'sldId').map((part) => new Slide(part));
    return this.knownSlides;
  }

  get masters(): Part[] {
    return this.listed('sldMasterIdLst', 'sldMasterId');
  }

  /** EMU; null where the presentation does not say. */
  get slideWidth(): number | null {
    return this.size('cx');
  }

  get slideHeight(): number | null {
    return this.size('cy');
  }

  private size(name: string): number | null {
    const size = childOf(this.main.root, P, 'sldSz');
    const value = size && attributeOf(size, name);
    return value === undefined ? null : integer(value);
  }

  private listed(list: string, item: string): Part[] {
    const element = childOf(this.main.root, P, list);
    if (element === undefined) return [];
    return childrenOf(element, P, item).map((entry) => this.main.related(attributeOf(entry, 'id', R) ?? ''));
  }
}
