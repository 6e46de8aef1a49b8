import { BrokenDocument, reading } from '../broken.ts';
import { attributeOf, type Element, elementsOf, parseXml } from '../xml.ts';
import { ZipArchive } from '../zip.ts';

const OFFICE_DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';
const MAIN_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';

/** What a part refers to: another part by its path, or with `isExternal` an address outside. */
export interface Relationship {
  id: string;
  /** Undefined where the file forgot it. */
  type: string | undefined;
  target: string;
  isExternal: boolean;
}

/**
 * The package of a Word document. As python-docx, it wants every part that can be reached to be there and to have a
 * type, and the main part to be a document, not a template.
 */
export class WordPackage {
  /** Path of the main part, and its root. */
  readonly main: string;
  readonly root: Element;
  private readonly zip: ZipArchive;
  private readonly known = new Map<string, Relationship[]>();

  /** Throws a BrokenDocument where the bytes are no such package. */
  constructor(bytes: Uint8Array) {
    this.zip = reading('no zip archive', () => new ZipArchive(bytes));
    const typeOf = this.contentTypes();
    this.walk('', typeOf, new Set());
    const mains = this.relationships('').filter(({ type }) => type === OFFICE_DOCUMENT);
    if (mains.length !== 1) throw new BrokenDocument(`the package has ${mains.length} main parts`);
    this.main = mains[0]!.target;
    if (typeOf(this.main) !== MAIN_TYPE) throw new BrokenDocument(`${this.main} is no Word document`);
    this.root = this.tree(this.main);
  }

  /** An XML part's root. Throws a BrokenDocument. */
  tree(path: string): Element {
    return reading(path, () => parseXml(this.part(path)));
  }

  /** A part's bytes. Throws a BrokenDocument. */
  part(path: string): Uint8Array {
    return reading(path, () => this.zip.part(path));
  }

  /** What the part refers to, in the order of its `_rels` part; a repeated id keeps its first place. */
  relationships(path: string): Relationship[] {
    const known = this.known.get(path);
    if (known !== undefined) return known;
    const at = path.lastIndexOf('/') + 1;
    const rels = `${path.slice(0, at)}_rels/${path.slice(at)}.rels`;
    const elements = this.zip.has(rels) ? elementsOf(this.tree(rels)) : [];
    const byId = new Map(elements.map((element) => relationshipOf(element, path.slice(0, at))));
    const found = [...byId.values()];
    this.known.set(path, found);
    return found;
  }

  private walk(path: string, typeOf: (path: string) => string, seen: Set<string>): void {
    for (const { target, isExternal } of this.relationships(path)) {
      if (isExternal || seen.has(target)) continue;
      seen.add(target);
      if (!this.zip.has(target)) throw new BrokenDocument(`the package has no ${target}`);
      typeOf(target);
      this.walk(target, typeOf, seen);
    }
  }

  private contentTypes(): (path: string) => string {
    const overrides = new Map<string, string>();
    const defaults = new Map<string, string>();
    for (const element of elementsOf(this.tree('[Content_Types].xml'))) {
      const [into, name] = element.localName === 'Override' ? [overrides, 'PartName'] : [defaults, 'Extension'];
      into.set(given(element, name).toLowerCase(), attributeOf(element, 'ContentType') ?? '');
    }
    return (path) => {
      const extension = /\.([^./]*)$/.exec(path)?.[1] ?? '';
      const type = overrides.get(`/${path}`.toLowerCase()) ?? defaults.get(extension.toLowerCase());
      if (type === undefined) throw new BrokenDocument(`${path} has no content type`);
      return type;
    };
  }
}

function relationshipOf(element: Element, folder: string): [string, Relationship] {
  const id = attributeOf(element, 'Id') ?? '';
  const isExternal = attributeOf(element, 'TargetMode') === 'External';
  const target = given(element, 'Target');
  const path = isExternal ? target : resolve(folder, target);
  return [id, { id, type: attributeOf(element, 'Type'), target: path, isExternal }];
}

/** An attribute that must be there. */
function given(element: Element, name: string): string {
  const value = attributeOf(element, name);
  if (value === undefined) throw new BrokenDocument(`${element.nodeName} has no ${name}`);
  return value;
}

function resolve(folder: string, target: string): string {
  const parts: string[] = [];
  for (const part of (target.startsWith('/') ? target : `${folder}${target}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
