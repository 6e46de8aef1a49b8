import { ZipArchive } from '../zip.ts';
import { parseTree, type XmlNode } from './tree.ts';

/** What another part is to this one: its kind (last word of the type's address) and its path in the package. */
export interface Relationship {
  id: string;
  kind: string;
  target: string;
}

/** An OOXML package: parts by path, and how they refer to each other. */
export class OfficePackage {
  private readonly archive: ZipArchive;
  private readonly trees = new Map<string, XmlNode>();

  /** Throws an Error where the bytes are no zip archive. */
  constructor(bytes: Uint8Array) {
    this.archive = new ZipArchive(bytes);
  }

  has(path: string): boolean {
    return this.archive.has(path);
  }

  /** The root of an XML part; undefined where there is no such part. Throws an Error where it is not XML. */
  tree(path: string): XmlNode | undefined {
    const known = this.trees.get(path);
    if (known !== undefined) return known;
    const bytes = this.archive.read(path);
    if (bytes === undefined) return undefined;
    const root = parseTree(textOf(bytes));
    this.trees.set(path, root);
    return root;
  }

  /** As `tree`, but a part that must be there. */
  part(path: string): XmlNode {
    const root = this.tree(path);
    if (root === undefined) throw new Error(`the package has no ${path}`);
    return root;
  }

  /** What a part refers to, by its `_rels` part. */
  relationships(path: string): Relationship[] {
    const at = path.lastIndexOf('/') + 1;
    const rels = this.tree(`${path.slice(0, at)}_rels/${path.slice(at)}.rels`);
    return (rels?.children ?? []).map(({ attributes }) => ({
      id: attributes.Id ?? '',
      kind: attributes.Type?.split('/').at(-1) ?? '',
      target: resolve(path.slice(0, at), attributes.Target ?? ''),
    }));
  }

  /** The path that a relationship of `path` leads to; undefined where it has none of that id. */
  target(path: string, id: string | undefined): string | undefined {
    return this.relationships(path).find((relationship) => relationship.id === id)?.target;
  }
}

function resolve(folder: string, target: string): string {
  if (target.startsWith('/')) return target.slice(1);
  const parts: string[] = [];
  for (const part of `${folder}${target}`.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

function textOf(bytes: Uint8Array): string {
  const encoding = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding, { fatal: true }).decode(bytes);
}
