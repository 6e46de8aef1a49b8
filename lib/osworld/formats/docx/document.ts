import { BrokenDocument } from '../broken.ts';
import { attributeOf, childOf, childrenOf, descendantsOf, type Element, elementsOf, isNamed } from '../xml.ts';
import { WordPackage } from './package.ts';
import { Paragraph } from './paragraph.ts';
import { Table } from './table.ts';
import { required, twips, W } from './values.ts';

const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

const opened = new WeakMap<Uint8Array, WordDocument>();

/** The document that these bytes are, read once however many metrics ask. Throws a BrokenDocument. */
export function wordDocumentOf(bytes: Uint8Array): WordDocument {
  const document = opened.get(bytes) ?? new WordDocument(bytes);
  opened.set(bytes, document);
  return document;
}

/** A Word document as python-docx sees it: what lies in tables, frames and content controls is none of its paragraphs. */
export class WordDocument {
  private readonly parts: WordPackage;
  private known: Paragraph[] | null = null;

  /** Throws a BrokenDocument where the bytes are no Word document. */
  constructor(bytes: Uint8Array) {
    this.parts = new WordPackage(bytes);
  }

  get paragraphs(): Paragraph[] {
    this.known ??= childrenOf(this.body, W, 'p').map((element) => new Paragraph(element));
    return this.known;
  }

  get texts(): string[] {
    return this.paragraphs.map((paragraph) => paragraph.text);
  }

  /** Tables of the body, those in cells left out. */
  get tables(): Table[] {
    return childrenOf(this.body, W, 'tbl').map((element) => new Table(element));
  }

  /** Files of the pictures that the main part refers to, in the order of its relationships. */
  get images(): Uint8Array[] {
    const related = this.parts.relationships(this.parts.main).filter(({ id, type }) => {
      if (type === undefined) throw new BrokenDocument(`the document does not say what ${id} is to it`);
      return type.includes('image');
    });
    return related.map(({ target, isExternal }) => {
      if (isExternal) throw new BrokenDocument(`a picture lies outside the document, at ${target}`);
      return this.parts.part(target);
    });
  }

  /** For each section the root of its default footer, inherited where it has none of its own; null where none has. */
  get footers(): (Element | null)[] {
    const all = descendantsOf(this.parts.root, W, 'sectPr');
    return this.sections.map((section) => {
      for (let index = all.indexOf(section); index >= 0; index -= 1) {
        const reference = childrenOf(all[index]!, W, 'footerReference').find(
          (element) => attributeOf(element, 'type', W) === 'default',
        );
        if (reference !== undefined) return this.related(reference);
      }
      return null;
    });
  }

  /** Width between the margins of the first section, in EMU. */
  get textWidth(): number {
    const section = this.sections[0];
    const [size, margins] = [section && childOf(section, W, 'pgSz'), section && childOf(section, W, 'pgMar')];
    if (size === undefined || margins === undefined) throw new BrokenDocument('the document does not say its page');
    const side = (element: Element, name: string) => twips(required(element, name), false);
    return side(size, 'w') - side(margins, 'left') - side(margins, 'right');
  }

  private get body(): Element {
    const body = childOf(this.parts.root, W, 'body');
    if (body === undefined) throw new BrokenDocument('the document has no w:body');
    return body;
  }

  private get sections(): Element[] {
    const body = childOf(this.parts.root, W, 'body');
    return (body === undefined ? [] : elementsOf(body)).flatMap((element) => {
      if (isNamed(element, W, 'sectPr')) return [element];
      const properties = isNamed(element, W, 'p') ? childOf(element, W, 'pPr') : undefined;
      return properties === undefined ? [] : childrenOf(properties, W, 'sectPr');
    });
  }

  private related(reference: Element): Element {
    const id = attributeOf(reference, 'id', R);
    const found = this.parts.relationships(this.parts.main).find((relationship) => relationship.id === id);
    if (found === undefined || found.isExternal) throw new BrokenDocument(`the document has no part ${id}`);
    return this.parts.tree(found.target);
  }
}
