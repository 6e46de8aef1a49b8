/**
 * A small reader for the XML inside office packages: machine-written, one name a tag, no DTD. A sheet of 50,000 cells
 * takes it a tenth of the time of a full DOM, which is most of what scoring a spreadsheet costs.
 */

/** An element by its local name; prefixes are dropped, of text the element's own, all pieces joined. */
export interface XmlNode {
  name: string;
  attributes: Record<string, string>;
  children: XmlNode[];
  text: string;
}

const TOKEN =
  /<(?:!--[\s\S]*?-->|!\[CDATA\[([\s\S]*?)\]\]>|\?[\s\S]*?\?>|(\/?)([^\s/>!?]+)((?:"[^"]*"|'[^']*'|[^>"'])*?)(\/?)>)/g;
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const ENTITIES: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Parses a whole document to its root. Throws an Error that says where the text stops being XML. */
export function parseTree(text: string): XmlNode {
  const document = node('', {});
  const open = [document];
  let end = 0;
  for (const token of text.matchAll(TOKEN)) {
    const parent = open.at(-1)!;
    addText(parent, text.slice(end, token.index));
    end = token.index + token[0].length;
    const [, cdata, closing, name, attributes, isEmpty] = token;
    if (cdata !== undefined) parent.text += cdata;
    if (name === undefined) continue;
    if (closing) {
      if (open.length === 1 || parent.name !== localName(name)) throw broken(`</${name}> closes nothing`, token.index);
      open.pop();
      continue;
    }
    const child = node(localName(name), attributesOf(attributes!));
    parent.children.push(child);
    if (!isEmpty) open.push(child);
  }
  addText(open.at(-1)!, text.slice(end));
  if (open.length > 1) throw broken(`<${open.at(-1)!.name}> is not closed`, text.length);
  if (document.children.length !== 1) throw broken(`${document.children.length} root elements`, text.length);
  return document.children[0]!;
}

function node(name: string, attributes: Record<string, string>): XmlNode {
  return { name, attributes, children: [], text: '' };
}

function broken(what: string, at: number): Error {
  return new Error(`not XML: ${what} (character ${at})`);
}

function addText(parent: XmlNode, raw: string): void {
  if (raw === '') return;
  if (raw.includes('<')) throw broken('a stray "<"', 0);
  parent.text += decode(raw);
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  if (text === '') return attributes;
  for (const [, name, double, single] of text.matchAll(ATTRIBUTE)) {
    // Namespace declarations mean nothing here; `r:id` and `id` are kept apart by their prefix.
    if (!name!.startsWith('xmlns')) attributes[name!] = decode((double ?? single)!.replace(/[\t\n\r]/g, ' '));
  }
  return attributes;
}

function decode(text: string): string {
  const plain = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  if (!plain.includes('&')) return plain;
  return plain.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

/** The first child of that name. */
export function child(parent: XmlNode | undefined, name: string): XmlNode | undefined {
  return parent?.children.find((item) => item.name === name);
}

/** All children of that name. */
export function children(parent: XmlNode | undefined, name: string): XmlNode[] {
  return parent?.children.filter((item) => item.name === name) ?? [];
}

/** The element at the end of a path of first children. */
export function descend(parent: XmlNode | undefined, ...names: string[]): XmlNode | undefined {
  return names.reduce<XmlNode | undefined>((at, name) => child(at, name), parent);
}

/** Every element below of that name, in document order. */
export function descendants(parent: XmlNode, name: string): XmlNode[] {
  return parent.children.flatMap((item) => [...(item.name === name ? [item] : []), ...descendants(item, name)]);
}

/** An attribute as OOXML's boolean: `1`, `true`, `on`; `fallback` where it is missing. */
export function flagOf<T>(value: string | undefined, fallback: T): boolean | T {
  if (value === undefined) return fallback;
  return !['0', 'false', 'f'].includes(value);
}

/** An attribute as a number; null where it is missing. */
export function numberOf(value: string | undefined): number | null {
  return value === undefined ? null : Number(value);
}
