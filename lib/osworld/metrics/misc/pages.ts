import { sequenceRatio } from '../../difflib.ts';
import { namesIn } from '../../formats/archive.ts';
import { descendantsOf, isElement, type PageNode, parseHtml, prettyHtml } from '../../formats/html.ts';
import { ZipArchive } from '../../formats/zip.ts';
import type { Metric } from '../../kinds.ts';
import { equal } from '../../rules.ts';
import { splitLines, strip } from '../sheets/python.ts';
import { asText, onBothFiles } from './both.ts';

/**
 * 1 when the nodes of both pages are alike one by one: names, texts and attributes (option `ignore_sdnum`: that one
 * left out). As OSWorld, what one page has beyond the end of the other is not looked at; `strict` does.
 */
const compareHtmls: Metric = onBothFiles(asText, async (result, expected, input) => {
  const [one, other] = [await parseHtml(result), await parseHtml(expected)].map((page) => [...descendantsOf(page)]);
  const ignored = input.options.flag('ignore_sdnum') ? 'sdnum' : '';
  const length = Math.min(one!.length, other!.length);
  if (input.fidelity === 'strict' && one!.length !== other!.length) return false;
  const texts = new Map<PageNode, string>();
  for (let at = 0; at < length; at += 1) if (!isSame(one![at]!, other![at]!, ignored, texts)) return false;
  return true;
});

function isSame(a: PageNode, b: PageNode, ignored: string, texts: Map<PageNode, string>): boolean {
  if (!isElement(a) || !isElement(b)) return !isElement(a) && !isElement(b) && dataOf(a) === dataOf(b);
  return (
    a.name === b.name && textOf(a, texts) === textOf(b, texts) && equal(attributes(a, ignored), attributes(b, ignored))
  );
}

function dataOf(node: PageNode): string {
  return 'data' in node ? node.data : '';
}

/** The text inside a node without blanks around it; kept, since every node asks for that of all below it. */
function textOf(node: PageNode, texts: Map<PageNode, string>): string {
  return strip(wholeText(node, texts));
}

function wholeText(node: PageNode, texts: Map<PageNode, string>): string {
  if (node.type === 'text') return node.data;
  const known = texts.get(node);
  if (known !== undefined) return known;
  const text = 'children' in node ? node.children.map((child) => wholeText(child, texts)).join('') : '';
  texts.set(node, text);
  return text;
}

/** Classes are a list: blanks between them do not count. */
function attributes(node: PageNode, ignored: string): Record<string, unknown> {
  const entries = Object.entries('attribs' in node ? node.attribs : {}).filter(([name]) => name !== ignored);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === 'class' ? value.trim().split(/\s+/) : value]),
  );
}

/**
 * Parts of a book whose lines are compared, sorted by name: contents without `navPoint` lines, package without
 * identifiers, pages printed prettily.
 */
async function partsOf(bytes: Uint8Array): Promise<string[][]> {
  const zip = new ZipArchive(bytes);
  const names = namesIn(new Map(zip.names.map((name) => [name.replaceAll('/', '\u0001'), bytes])), '');
  const parts: string[][] = [];
  for (const name of names.map((flat) => flat.replaceAll('\u0001', '/'))) {
    const text = () => new TextDecoder().decode(zip.part(name));
    if (name === 'toc.ncx') parts.push(splitLines(text()).filter((line) => !line.includes('navPoint')));
    if (name === 'content.opf') parts.push(splitLines(text()).filter((line) => !line.includes('dc:identifier')));
    if (name.endsWith('.html')) parts.push(splitLines(await printed(text())));
  }
  return parts;
}

async function printed(text: string): Promise<string> {
  const page = await parseHtml(text.replace(/[\r\n]/g, ''));
  const root = page.children.find(isElement);
  return root === undefined ? '' : prettyHtml(root);
}

/**
 * The mean similarity of the parts of two books, one by one in the order of their names, over the parts of the result:
 * as OSWorld, parts that the result lacks cost nothing; `strict` counts the longer of both.
 */
const compareEpub: Metric = onBothFiles(partsOf, (result, expected, input) => {
  const count = input.fidelity === 'strict' ? Math.max(result.length, expected.length) : result.length;
  if (count === 0) return 0;
  const pairs = result.slice(0, expected.length).map((part, at) => sequenceRatio(part, expected[at]!));
  return pairs.reduce((sum, ratio) => sum + ratio, 0) / count;
});

/** Web pages and books. */
export const pageMetrics: Record<string, Metric> = { compare_htmls: compareHtmls, compare_epub: compareEpub };
