import { C } from '../../screen/palette.ts';
import type { Ui } from '../../ui/ui.ts';
import type { MenuItem } from '../../ui/widget.ts';
import { addressOf, type ChromeProfile } from './profile.ts';

/** What the browser's own pages need of it. */
export interface BrowserHost {
  profile: ChromeProfile;
  go(address: string): void;
  order<T>(label: string, items: readonly T[], name: (item: T) => string): T[];
  bookmarkMenu(url: string): MenuItem[];
}

/** First row of the page, and how many rows it has. */
export const PAGE_TOP = 4;
export const PAGE_ROWS = 9;

const TOGGLES: { name: string; path: string; initially: boolean }[] = [
  { name: 'Do Not Track', path: 'enable_do_not_track', initially: false },
  { name: 'Safe Browsing', path: 'safebrowsing.enabled', initially: true },
  { name: 'Home Button', path: 'browser.show_home_button', initially: false },
  { name: 'Block Cookies', path: 'profile.block_third_party_cookies', initially: false },
];

interface Choice {
  path: string;
  initially: string | number;
  options: { name: string; value: string | number; w: number }[];
}

const CHOICES: Choice[] = [
  {
    path: 'session.restore_on_startup',
    initially: 5,
    options: [
      { name: 'New Tab Page', value: 5, w: 7 },
      { name: 'Continue', value: 1, w: 6 },
    ],
  },
  {
    path: 'default_search_provider_data.template_url_data.short_name',
    initially: 'Google',
    options: [
      { name: 'Google', value: 'Google', w: 5 },
      { name: 'Bing', value: 'Bing', w: 4 },
      { name: 'Duck', value: 'Duck', w: 4 },
    ],
  },
  {
    path: 'webkit.webprefs.default_font_size',
    initially: 16,
    options: [
      { name: 'Small', value: 12, w: 4 },
      { name: 'Medium', value: 16, w: 5 },
      { name: 'Large', value: 20, w: 4 },
    ],
  },
];

/** Title of one of the browser's own pages; null for another address. */
export function ownTitle(address: string): string | null {
  const titles: Record<string, string> = {
    'chrome://settings': 'Settings',
    'chrome://history': 'History',
    'chrome://bookmarks': 'Bookmarks',
  };
  return titles[address] ?? null;
}

/** Draws one of the browser's own pages, scrolled by `offset` rows. */
export function viewOwnPage(ui: Ui, address: string, host: BrowserHost, offset: number): void {
  if (address === 'chrome://settings') viewSettings(ui, host);
  else if (address === 'chrome://history') viewHistory(ui, host, offset);
  else viewBookmarks(ui, host, offset);
}

function viewSettings(ui: Ui, { profile, order }: BrowserHost): void {
  let y = PAGE_TOP;
  for (const { name, path, initially } of order('chrome settings', TOGGLES, (t) => t.name)) {
    const on = (profile.preference(path) ?? initially) === true;
    ui.check(0, y++, 9, name, on, () => profile.setPreference(path, !on));
  }
  for (const { path, initially, options } of order('chrome choices', CHOICES, (c) => c.path)) {
    const value = profile.preference(path) ?? initially;
    let x = 0;
    for (const option of options) {
      ui.radio(x, y, option.w, option.name, value === option.value, () => profile.setPreference(path, option.value));
      x += option.w;
    }
    y++;
  }
  ui.button(0, y + 1, 7, 'Clear History', () => profile.clearHistory());
}

/** How many entries of the history page there are rows for. */
const LISTED = PAGE_ROWS - 1;

function viewHistory(ui: Ui, { profile, go }: BrowserHost, offset: number): void {
  ui.button(0, PAGE_TOP, 7, 'Clear History', () => profile.clearHistory());
  ui.list(profile.history().reverse(), offset, LISTED, ({ url, title }, row) =>
    ui.add('link', 0, PAGE_TOP + 1 + row, 15, title, { fg: C.link, bg: C.field, click: () => go(addressOf(url)) }),
  );
}

function viewBookmarks(ui: Ui, { profile, bookmarkMenu, go }: BrowserHost, offset: number): void {
  ui.add('heading', 0, PAGE_TOP, 15, 'Bookmarks', { fg: C.title, bg: C.field });
  ui.list(profile.bookmarks(), offset, LISTED, ({ name, url }, row) =>
    ui.item(0, PAGE_TOP + 1 + row, 15, name, false, () => {}, {
      menu: () => bookmarkMenu(url),
      double: () => go(addressOf(url)),
    }),
  );
}
