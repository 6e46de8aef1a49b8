import { isObject, readJson, writeJson } from '../../files/json_file.ts';
import { HOME, type Vfs } from '../../files/vfs.ts';

const PROFILE = `${HOME}/.config/google-chrome/Default`;

export interface Bookmark {
  name: string;
  url: string;
}

/** The browser's profile: the files that Chrome keeps, where Chrome keeps them (docs/desktop.md, chrome). */
export class ChromeProfile {
  private readonly vfs: Vfs;

  constructor(vfs: Vfs) {
    this.vfs = vfs;
  }

  /** A preference by its dotted path; undefined when it is not set. */
  preference(path: string): unknown {
    let value: unknown = readJson(this.vfs, `${PROFILE}/Preferences`);
    for (const key of path.split('.')) value = isObject(value) ? value[key] : undefined;
    return value;
  }

  setPreference(path: string, value: unknown): void {
    const keys = path.split('.');
    const set = (object: unknown, depth: number): unknown => {
      const key = keys[depth];
      if (key === undefined) return value;
      const before = isObject(object) ? object : {};
      return { ...before, [key]: set(before[key], depth + 1) };
    };
    writeJson(this.vfs, `${PROFILE}/Preferences`, set(readJson(this.vfs, `${PROFILE}/Preferences`), 0));
  }

  get searchEngine(): string {
    return String(this.preference('default_search_provider_data.template_url_data.short_name') ?? 'Google');
  }

  bookmarks(): Bookmark[] {
    const { roots } = readJson(this.vfs, `${PROFILE}/Bookmarks`);
    const bar = isObject(roots) ? roots.bookmark_bar : undefined;
    const children = isObject(bar) && Array.isArray(bar.children) ? bar.children : [];
    return children.filter(isObject).map((b) => ({ name: String(b.name ?? ''), url: String(b.url ?? '') }));
  }

  isBookmarked(url: string): boolean {
    return this.bookmarks().some((b) => b.url === url);
  }

  removeBookmark(url: string): void {
    this.setBookmarks(this.bookmarks().filter((b) => b.url !== url));
  }

  /** Adds a bookmark, or removes the one of that page. */
  toggleBookmark(bookmark: Bookmark): void {
    if (this.isBookmarked(bookmark.url)) this.removeBookmark(bookmark.url);
    else this.setBookmarks([...this.bookmarks(), bookmark]);
  }

  private setBookmarks(bookmarks: Bookmark[]): void {
    const children = bookmarks.map(({ name, url }, index) => ({ id: String(index + 5), name, type: 'url', url }));
    const folder = (id: string, name: string, list: unknown[]) => ({ children: list, id, name, type: 'folder' });
    writeJson(this.vfs, `${PROFILE}/Bookmarks`, {
      checksum: '',
      roots: {
        bookmark_bar: folder('1', 'Bookmarks bar', children),
        other: folder('2', 'Other bookmarks', []),
        synced: folder('3', 'Mobile bookmarks', []),
      },
      version: 1,
    });
  }

  /** Visited pages, newest last. */
  history(): { url: string; title: string }[] {
    return this.readList('History')
      .filter(isObject)
      .map((p) => ({ url: String(p.url ?? ''), title: String(p.title ?? '') }));
  }

  visit(url: string, title: string): void {
    const kept = this.history().slice(-99);
    writeJson(this.vfs, `${PROFILE}/History`, [...kept, { url, title }]);
  }

  clearHistory(): void {
    writeJson(this.vfs, `${PROFILE}/History`, []);
  }

  saveTabs(active: number, tabs: { url: string; title: string }[]): void {
    writeJson(this.vfs, `${PROFILE}/Session`, { active, tabs });
  }

  siteData(host: string): Record<string, unknown> {
    const data = readJson(this.vfs, `${PROFILE}/SiteData`)[host];
    return isObject(data) ? data : {};
  }

  /** Adds to what a site keeps. */
  keepSiteData(host: string, data: Record<string, unknown>): void {
    const all = readJson(this.vfs, `${PROFILE}/SiteData`);
    writeJson(this.vfs, `${PROFILE}/SiteData`, { ...all, [host]: { ...this.siteData(host), ...data } });
  }

  private readList(file: string): unknown[] {
    try {
      const value: unknown = JSON.parse(this.vfs.readText(`${PROFILE}/${file}`) ?? '[]');
      return Array.isArray(value) ? value : [];
    } catch {
      return [];
    }
  }
}

/** How files name a page: `https://shop.test/`. */
export function urlOf(address: string): string {
  if (address.includes('://')) return address;
  return `https://${address}${address.includes('/') ? '' : '/'}`;
}

/** How the address bar names a page: `shop.test`. */
export function addressOf(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
}
