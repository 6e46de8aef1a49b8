import type { Cheerio, CheerioAPI } from 'cheerio';

type Parent = ReturnType<CheerioAPI['root']> extends Cheerio<infer T> ? T : never;
/** A node of a page: an element, a text, a comment, … */
export type PageNode = Parent['children'][number];
type Element = Extract<PageNode, { name: string; attribs: Record<string, string> }>;

/** An HTML page as a tree, repaired as browsers do. */
export async function parseHtml(text: string): Promise<Parent> {
  const { load } = await import('cheerio');
  return load(text).root()[0]!;
}

/** True for an element of any kind. */
export function isElement(node: PageNode): node is Element {
  return node.type === 'tag' || node.type === 'script' || node.type === 'style';
}

/** Everything below a node, in document order. */
export function* descendantsOf(node: PageNode | Parent): Generator<PageNode> {
  if (!('children' in node)) return;
  for (const child of node.children) {
    yield child;
    yield* descendantsOf(child);
  }
}

const words = (list: string) => new Set(list.split(' '));
const KNOWN = words(
  'address area base blockquote body caption center col colgroup dd dir div dl dt fieldset form frame frameset h1 h2 h3 ' +
    'h4 h5 h6 head hr html isindex legend li link menu meta noframes noscript ol optgroup option p param pre style table ' +
    'tbody td tfoot th thead title tr ul',
);
const EMPTY = words('area base basefont br col frame hr img input isindex link meta param embed');

/** True for elements around which the printer may break lines. */
const breaks = (node: PageNode) => isElement(node) && KNOWN.has(node.name);
const isText = (node: PageNode) => node.type === 'text';

/** The element as lxml prints it prettily: line breaks where no text is next to them, and never inside `p…`. */
export function prettyHtml(element: Element): string {
  return `${print(element)}\n`;
}

function print(node: PageNode): string {
  if (node.type === 'comment') return `<!--${node.data}-->`;
  if (node.type === 'text') {
    const parent = node.parent;
    const isRaw = parent !== null && (parent.type === 'script' || parent.type === 'style');
    return isRaw ? node.data : escaped(node.data);
  }
  if (!isElement(node)) return '';
  const attributes = Object.entries(node.attribs).map(([name, value]) => ` ${name}="${escaped(value, true)}"`);
  const start = `<${node.name}${attributes.join('')}>`;
  if (EMPTY.has(node.name)) return start + after(node);
  const { children } = node;
  const [first, last] = [children[0], children.at(-1)];
  if (first === undefined || last === undefined) return `${start}</${node.name}>${after(node)}`;
  const isRoomy = breaks(node) && !node.name.startsWith('p') && children.length > 1;
  const opening = isRoomy && !isText(first) ? '\n' : '';
  const closing = isRoomy && !isText(last) ? '\n' : '';
  return `${start}${opening}${children.map(print).join('')}${closing}</${node.name}>${after(node)}`;
}

/** The line break behind an element. */
function after(node: Element): string {
  const parent = node.parent;
  const isFree = node.next !== null && !isText(node.next) && parent !== null && isElement(parent);
  return breaks(node) && isFree && !parent.name.startsWith('p') ? '\n' : '';
}

function escaped(text: string, isValue = false): string {
  const plain = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return isValue ? plain.replaceAll('"', '&quot;') : plain;
}
