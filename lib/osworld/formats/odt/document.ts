import { BrokenDocument, reading } from '../broken.ts';
import { attributeOf, childrenOf, descendantsOf, type Element, elementsOf, isNamed, parseXml } from '../xml.ts';
import { ZipArchive } from '../zip.ts';

const NAMESPACES = 'urn:oasis:names:tc:opendocument:xmlns:';
const OFFICE = `${NAMESPACES}office:1.0`;
const TEXT = `${NAMESPACES}text:1.0`;
const STYLE = `${NAMESPACES}style:1.0`;
const FO = `${NAMESPACES}xsl-fo-compatible:1.0`;
const MANIFEST = `${NAMESPACES}manifest:1.0`;
/** The streams that make the document, in the order in which they are read. */
const STREAMS = ['settings.xml', 'meta.xml', 'content.xml', 'styles.xml'];

/**
 * An OpenDocument text as OSWorld's reader sees it: all paragraphs of the content, those in tables, frames and comments
 * too, and then those of headers and footers. Their text is what stands in them directly or in a span; blanks and tabs
 * that are elements, links and fields are none.
 */
export class OdtDocument {
  /** Text of every paragraph. */
  readonly texts: string[];
  private readonly roots: Element[];

  /** Throws a BrokenDocument where the bytes are no OpenDocument file. */
  constructor(bytes: Uint8Array) {
    const zip = reading('no zip archive', () => new ZipArchive(bytes));
    const manifest = reading('META-INF/manifest.xml', () => parseXml(zip.part('META-INF/manifest.xml')));
    const listed = descendantsOf(manifest, MANIFEST, 'file-entry').map(
      (entry) => attributeOf(entry, 'full-path', MANIFEST) ?? '',
    );
    for (const name of listed) {
      if (STREAMS.includes(name) || name.endsWith('/') || name.startsWith('Object ') || zip.has(name)) continue;
      throw new BrokenDocument(`the package has no ${name}`);
    }
    this.roots = STREAMS.filter((name) => listed.includes(name) && zip.has(name)).map((name) =>
      reading(name, () => parseXml(zip.part(name))),
    );
    this.texts = this.roots.flatMap((root) => descendantsOf(root, TEXT, 'p')).map(textOf);
  }

  /** Backgrounds (`fo:background-color`) that automatic styles give to spans of text. */
  get spanBackgrounds(): string[] {
    const spans = this.roots.map((root) =>
      descendantsOf(root, TEXT, 'span').map((span) => attributeOf(span, 'style-name', TEXT)),
    );
    return this.roots.flatMap((root, index) => {
      // A stream's spans mean the styles of that stream: content and styles may use one name for two things.
      const used = new Set(spans[index]);
      const styles = childrenOf(root, OFFICE, 'automatic-styles').flatMap(elementsOf);
      return styles
        .filter((style) => used.has(attributeOf(style, 'name', STYLE)))
        .flatMap(elementsOf)
        .flatMap((properties) => attributeOf(properties, 'background-color', FO) ?? []);
    });
  }
}

function textOf(paragraph: Element): string {
  let text = '';
  for (let node = paragraph.firstChild; node !== null; node = node.nextSibling) {
    if (isText(node.nodeType)) text += node.nodeValue;
    if (node.nodeType === 1 && isNamed(node as Element, TEXT, 'span')) text += ownText(node as Element);
  }
  return text;
}

function ownText(element: Element): string {
  let text = '';
  for (let node = element.firstChild; node !== null; node = node.nextSibling) {
    if (isText(node.nodeType)) text += node.nodeValue;
  }
  return text;
}

/** Text and CDATA. */
function isText(nodeType: number): boolean {
  return nodeType === 3 || nodeType === 4;
}
