import { attributeOf, childOf, childrenOf, type Element } from '../xml.ts';
import { inheritedSide, ownSide, placeholderOf, type Side, shapeElements } from './geometry.ts';
import { A, P, type Part, R } from './package.ts';
import { joinParagraphs, type Paragraph, paragraphsOf } from './text.ts';
import { flag, required } from './values.ts';

/** What a shape is. A placeholder is `placeholder` whatever it holds, but for tables, charts and embedded objects. */
export type ShapeKind =
  | 'placeholder'
  | 'auto-shape'
  | 'text-box'
  | 'freeform'
  | 'picture'
  | 'movie'
  | 'group'
  | 'line'
  | 'chart'
  | 'table'
  | 'object'
  | 'other';

const FRAMES: Record<string, ShapeKind> = {
  'http://schemas.openxmlformats.org/drawingml/2006/chart': 'chart',
  'http://schemas.openxmlformats.org/drawingml/2006/table': 'table',
  'http://schemas.openxmlformats.org/presentationml/2006/ole': 'object',
};

/** A shape of a slide, or of a group on it; reads are lazy, and what python-pptx refuses is an Error. */
export class Shape {
  readonly element: Element;
  private readonly slide: Part;
  private readonly placeholder: Element | undefined;
  /** Inside a group a placeholder inherits no place. */
  private readonly isInGroup: boolean;
  private knownParagraphs: Paragraph[] | undefined;
  private knownText: string | undefined;

  constructor(element: Element, slide: Part, isInGroup: boolean) {
    this.element = element;
    this.slide = slide;
    this.isInGroup = isInGroup;
    this.placeholder = placeholderOf(element);
  }

  /** Throws an Error for a shape that is none of these kinds. */
  get kind(): ShapeKind {
    switch (this.element.localName) {
      case 'grpSp':
        return 'group';
      case 'cxnSp':
        return 'line';
      case 'graphicFrame':
        return FRAMES[required(this.graphicData, 'uri')] ?? 'other';
      case 'pic':
        if (this.placeholder && !this.isInGroup) return 'placeholder';
        return this.isMovie ? 'movie' : 'picture';
      case 'sp':
        return this.placeholder ? 'placeholder' : this.kindByOutline();
      default:
        throw new Error(`<${this.element.nodeName}> is no shape that can be read`);
    }
  }

  /** EMU; null where neither the shape nor what it inherits from says. */
  get left(): number | null {
    return this.side('x');
  }

  get top(): number | null {
    return this.side('y');
  }

  get width(): number | null {
    return this.side('cx');
  }

  get height(): number | null {
    return this.side('cy');
  }

  /** True for shapes that can hold text themselves; tables, groups, pictures and lines cannot. */
  get hasText(): boolean {
    return this.element.localName === 'sp';
  }

  get paragraphs(): Paragraph[] {
    this.knownParagraphs ??= paragraphsOf(childOf(this.element, P, 'txBody'));
    return this.knownParagraphs;
  }

  get text(): string {
    this.knownText ??= joinParagraphs(this.paragraphs);
    return this.knownText;
  }

  /** What a group holds. */
  get shapes(): Shape[] {
    if (this.element.localName !== 'grpSp') return [];
    return shapeElements(this.element).map((element) => new Shape(element, this.slide, true));
  }

  /** The table in the frame. Throws an Error where there is none. */
  get table(): Table {
    const table = this.kind === 'table' ? childOf(this.graphicData, A, 'tbl') : undefined;
    if (table === undefined) throw new Error(`<${this.element.nodeName}> holds no table`);
    return new Table(table);
  }

  /** Bytes of the embedded picture. Throws an Error where it is not in the package. */
  get image(): Uint8Array {
    const fill = childOf(this.element, P, 'blipFill');
    const blip = fill && childOf(fill, A, 'blip');
    const id = blip && attributeOf(blip, 'embed', R);
    if (id === undefined) throw new Error('the picture is not embedded');
    return this.slide.related(id).bytes;
  }

  private side(side: Side): number | null {
    const own = ownSide(this.element, side);
    const inherits = this.placeholder && !this.isInGroup && ['sp', 'pic'].includes(this.element.localName!);
    return own === null && inherits ? inheritedSide(this.placeholder!, side, this.slide) : own;
  }

  private kindByOutline(): ShapeKind {
    const properties = childOf(this.element, P, 'spPr');
    const head = childOf(this.element, P, 'nvSpPr');
    const own = head && childOf(head, P, 'cNvSpPr');
    if (properties === undefined || own === undefined) throw new Error('a shape has no properties');
    if (childOf(properties, A, 'custGeom')) return 'freeform';
    const isTextBox = flag(own, 'txBox') === true;
    if (isTextBox) return 'text-box';
    if (childOf(properties, A, 'prstGeom')) return 'auto-shape';
    throw new Error('a shape has neither an outline nor is it a text box');
  }

  private get isMovie(): boolean {
    const head = childOf(this.element, P, 'nvPicPr');
    const properties = head && childOf(head, P, 'nvPr');
    return properties !== undefined && childOf(properties, A, 'videoFile') !== undefined;
  }

  private get graphicData(): Element {
    const graphic = childOf(this.element, A, 'graphic');
    const data = graphic && childOf(graphic, A, 'graphicData');
    if (data === undefined) throw new Error('a frame holds nothing');
    return data;
  }
}

/** A table of a slide. */
export class Table {
  private readonly rows: Element[];
  readonly columnCount: number;

  constructor(element: Element) {
    const grid = childOf(element, A, 'tblGrid');
    if (grid === undefined) throw new Error('a table has no grid');
    this.columnCount = childrenOf(grid, A, 'gridCol').length;
    this.rows = childrenOf(element, A, 'tr');
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /** Paragraphs of a cell, counted from 0. Throws an Error where the row is shorter than the grid. */
  cell(row: number, column: number): Paragraph[] {
    const cell = this.rows[row] && childrenOf(this.rows[row], A, 'tc')[column];
    if (cell === undefined) throw new Error(`the table has no cell ${row}, ${column}`);
    return paragraphsOf(childOf(cell, A, 'txBody'));
  }
}
