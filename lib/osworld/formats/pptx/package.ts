import { attributeOf, childrenOf, type Element, parseXml } from '../xml.ts';
import { ZipArchive } from '../zip.ts';

/** Namespaces of DrawingML, PresentationML and of relationships. */
export const A = 'http://schemas.openxmlformats.org/drawingml/2006/main';
export const P = 'http://schemas.openxmlformats.org/presentationml/2006/main';
export const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE_R = 'http://schemas.openxmlformats.org/package/2006/relationships';
const CONTENT_TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types';
const MAIN_TYPES = [
  'application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml',
  'application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml',
];

/** How one part refers to another, or to something outside of the package. */
export interface Relationship {
  id: string;
  type: string;
  /** As the package writes it: relative to the part's folder. */
  target: string;
  isExternal: boolean;
}

/** A part of a package: its bytes, its XML and what it refers to. */
export class Part {
  readonly path: string;
  private readonly owner: PptxPackage;
  private tree: Element | undefined;
  private links: Relationship[] | undefined;

  constructor(path: string, owner: PptxPackage) {
    this.path = path;
    this.owner = owner;
  }

  get bytes(): Uint8Array {
    return this.owner.zip.part(this.path);
  }

  /** Throws an Error where the part is not XML. */
  get root(): Element {
    this.tree ??= parseXml(this.bytes);
    return this.tree;
  }

  get relationships(): Relationship[] {
    this.links ??= relationshipsIn(this.owner.zip, relationshipsPath(this.path));
    return this.links;
  }

  /** The part behind a relationship. Throws an Error where there is none of that id. */
  related(id: string): Part {
    const link = this.relationships.find((relationship) => relationship.id === id);
    const part = link && this.follow(link);
    if (part === undefined) throw new Error(`${this.path} has no relationship ${id} to a part`);
    return part;
  }

  /** The one part of that kind; undefined where there is none. Throws an Error where there are several. */
  relatedBy(kind: string): Part | undefined {
    const parts = this.relationships
      .filter(({ type }) => type === `${R}/${kind}`)
      .map((link) => this.follow(link))
      .filter((part) => part !== undefined);
    if (parts.length > 1) throw new Error(`${this.path} has ${parts.length} relationships of type ${kind}`);
    return parts[0];
  }

  private follow(link: Relationship): Part | undefined {
    return link.isExternal ? undefined : this.owner.part(resolvePath(folderOf(this.path), link.target));
  }
}

/** A presentation's zip archive as its parts. */
export class PptxPackage {
  readonly zip: ZipArchive;
  private readonly parts = new Map<string, Part>();

  /** Throws an Error where the bytes are no zip archive. */
  constructor(bytes: Uint8Array) {
    this.zip = new ZipArchive(bytes);
  }

  /** The part of that path; undefined where there is none. */
  part(path: string): Part | undefined {
    if (!this.parts.has(path) && this.zip.has(path)) this.parts.set(path, new Part(path, this));
    return this.parts.get(path);
  }

  /** The presentation itself. Throws an Error where the package holds something else. */
  main(): Part {
    const link = relationshipsIn(this.zip, '_rels/.rels').find(({ type }) => type === `${R}/officeDocument`);
    const part = link && this.part(resolvePath('', link.target));
    if (part === undefined) throw new Error('the package has no main document');
    if (!MAIN_TYPES.includes(this.contentType(part.path))) throw new Error('the package is not a presentation');
    return part;
  }

  /** A part's media type by [Content_Types].xml; '' where it names none. */
  contentType(path: string): string {
    const root = parseXml(this.zip.part('[Content_Types].xml'));
    const find = (name: string, key: string, value: string) => {
      const entry = childrenOf(root, CONTENT_TYPES, name).find(
        (element) => attributeOf(element, key)?.toLowerCase() === value.toLowerCase(),
      );
      return entry && attributeOf(entry, 'ContentType');
    };
    return find('Override', 'PartName', `/${path}`) ?? find('Default', 'Extension', path.split('.').pop()!) ?? '';
  }
}

/** The relationships that a `.rels` entry lists; none where the archive has no such entry. */
export function relationshipsIn(zip: ZipArchive, path: string): Relationship[] {
  const bytes = zip.read(path);
  if (bytes === undefined) return [];
  return childrenOf(parseXml(bytes), PACKAGE_R, 'Relationship').map((element) => ({
    id: attributeOf(element, 'Id') ?? '',
    type: attributeOf(element, 'Type') ?? '',
    target: attributeOf(element, 'Target') ?? '',
    isExternal: attributeOf(element, 'TargetMode') === 'External',
  }));
}

/** Where a part's relationships stand. */
export function relationshipsPath(path: string): string {
  return `${folderOf(path)}_rels/${path.slice(folderOf(path).length)}.rels`;
}

/** A target as a path in the archive; `folder` ends in `/` or is empty. */
export function resolvePath(folder: string, target: string): string {
  const names: string[] = [];
  for (const name of (target.startsWith('/') ? target : `${folder}${target}`).split('/')) {
    if (name === '..') names.pop();
    else if (name !== '.' && name !== '') names.push(name);
  }
  return names.join('/');
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}
