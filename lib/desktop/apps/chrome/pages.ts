import { nameOf, type Vfs } from '../../files/vfs.ts';
import { splitLines } from '../writer/markdown.ts';
import { ownTitle } from './own_pages.ts';
import { type Block, type Page, pageAt, SITES, type Visit } from './web.ts';

export const NEW_TAB = 'chrome://newtab';

/** What pages are made from. */
interface PageSource extends Pick<Visit, 'data'> {
  vfs: Vfs;
  order<T>(label: string, items: readonly T[], name: (item: T) => string): T[];
}

/** The page at an address: of the small web, of a file, or the start page. */
export function browserPage(address: string, source: PageSource): Page {
  if (address.startsWith('file://')) return filePage(address.slice('file://'.length), source.vfs);
  const page = address === NEW_TAB ? startPage() : pageAt(address, source);
  // Links stand in any order, so that their words must be read; the rest of a page keeps its order.
  const links = source.order(
    `links ${address}`,
    page.blocks.filter((b) => b.kind === 'link'),
    (b) => b.name,
  );
  return { ...page, blocks: page.blocks.map((block) => (block.kind === 'link' ? (links.shift() ?? block) : block)) };
}

/** Title of the page at an address. */
export function pageTitle(address: string, source: PageSource): string {
  return ownTitle(address) ?? browserPage(address, source).title;
}

function filePage(path: string, vfs: Vfs): Page {
  const text = vfs.readText(path);
  const lines = text === null ? ['No such file'] : splitLines(text.replace(/<[^>]*>/g, ''));
  return { title: nameOf(path), blocks: lines.slice(0, 50).map((line): Block => ({ kind: 'label', text: line })) };
}

function startPage(): Page {
  return { title: 'New Tab', blocks: SITES.map((site): Block => ({ kind: 'link', name: site, to: site })) };
}
