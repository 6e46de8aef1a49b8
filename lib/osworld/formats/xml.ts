import { DOMParser, type Element, type Node } from '@xmldom/xmldom';

export type { Element };

const ELEMENT_NODE = 1;
const TEXT_NODES = [3, 4];

/** The root of a document. Throws an Error where the bytes or the text are not XML. */
export function parseXml(source: Uint8Array | string): Element {
  const text = typeof source === 'string' ? source : xmlText(source);
  const stop = (_level: string, message: string) => {
    throw new Error(`not XML: ${message}`);
  };
  const document = new DOMParser({ onError: stop }).parseFromString(text.replace(/^\ufeff/, ''), 'text/xml');
  return document.documentElement!;
}

/** Text by the byte order mark, else by the encoding that the declaration names, else UTF-8. */
function xmlText(bytes: Uint8Array): string {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 120));
  const declared = /^<\?xml[^>]*?\bencoding\s*=\s*["']([\w.-]+)["']/.exec(head)?.[1];
  const marked = head.startsWith('\xff\xfe') ? 'utf-16le' : head.startsWith('\xfe\xff') ? 'utf-16be' : undefined;
  return new TextDecoder(marked ?? declared ?? 'utf-8', { fatal: true }).decode(bytes);
}

/** The elements inside another one, text and comments left out. */
export function elementsOf(parent: Element): Element[] {
  return nodesOf(parent).filter((node): node is Element => node.nodeType === ELEMENT_NODE);
}

/** Elements directly inside `parent` with that local name in that namespace ('' is none). */
export function childrenOf(parent: Element, namespace: string, name: string): Element[] {
  return elementsOf(parent).filter((element) => isNamed(element, namespace, name));
}

/** The first of `childrenOf`. */
export function childOf(parent: Element, namespace: string, name: string): Element | undefined {
  return childrenOf(parent, namespace, name)[0];
}

/** Every element below `parent` with that name, in document order. */
export function descendantsOf(parent: Element, namespace: string, name: string): Element[] {
  return elementsOf(parent).flatMap((element) => [
    ...(isNamed(element, namespace, name) ? [element] : []),
    ...descendantsOf(element, namespace, name),
  ]);
}

/** True where the element has that local name in that namespace. */
export function isNamed(element: Element, namespace: string, name: string): boolean {
  return element.localName === name && (element.namespaceURI ?? '') === namespace;
}

/** An attribute; undefined where it is missing. With a namespace, the attribute of that namespace. */
export function attributeOf(element: Element, name: string, namespace = ''): string | undefined {
  return element.getAttributeNS(namespace === '' ? null : namespace, name) ?? undefined;
}

/** Text directly in front of an element's first child: what lxml and ElementTree call its `text`. */
export function leadingText(element: Element): string {
  const nodes = nodesOf(element);
  const end = nodes.findIndex((node) => node.nodeType === ELEMENT_NODE);
  return (end < 0 ? nodes : nodes.slice(0, end))
    .filter((node) => TEXT_NODES.includes(node.nodeType))
    .map((node) => node.nodeValue ?? '')
    .join('');
}

function nodesOf(parent: Element): Node[] {
  const nodes: Node[] = [];
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) nodes.push(node);
  return nodes;
}
