import type { Vfs } from '../../files/vfs.ts';
import { C } from '../../screen/palette.ts';
import { Field } from '../../ui/field.ts';
import type { Ui } from '../../ui/ui.ts';
import type { MenuItem } from '../../ui/widget.ts';
import { App, clampScroll } from '../app.ts';
import { type BrowserHost, ownTitle, PAGE_ROWS, PAGE_TOP, viewOwnPage } from './own_pages.ts';
import { browserPage, NEW_TAB, pageTitle } from './pages.ts';
import { addressOf, ChromeProfile, urlOf } from './profile.ts';
import type { Visit } from './web.ts';
import { PageInput, viewPage } from './web_view.ts';

const MAX_TABS = 3;
const MAX_BOOKMARKS_SHOWN = 5;
interface Tab {
  address: string;
  past: string[];
  input: PageInput;
  offset: number;
}

/** The web browser, on a small web of its own. */
export class ChromeApp extends App {
  private readonly profile = new ChromeProfile(this.system.vfs);
  private tabs: Tab[] = [newTab()];
  private active = 0;
  private closed: string[] = [];
  private readonly bar: Field = new Field('', { onEnter: () => this.enterAddress() });
  private readonly host: BrowserHost & Visit & { vfs: Vfs } = {
    vfs: this.system.vfs,
    profile: this.profile,
    go: (address) => this.go(address),
    order: (label, items, name) => this.system.order(label, items, name),
    bookmarkMenu: (url) => this.bookmarkMenu(url),
    value: (name) => this.tab.input.value(name),
    data: (host) => this.profile.siteData(host),
    keep: (host, data) => this.profile.keepSiteData(host, data),
  };

  get title(): string {
    return `${this.titleOf(this.tab.address)} - Google Chrome`;
  }

  override open(args: string[]): void {
    args.forEach((arg, index) => {
      const fresh = this.tabs.length === 1 && this.tab.address === NEW_TAB && this.tab.past.length === 0;
      if ((index > 0 || !fresh) && this.tabs.length < MAX_TABS) this.addTab();
      this.go(arg.startsWith('/') ? `file://${arg}` : addressOf(arg));
    });
    this.saveTabs();
  }

  view(ui: Ui): void {
    ui.fill(0, 1, 15, 1, C.tab);
    this.viewTabs(ui);
    const { address } = this.tab;
    if (this.focus !== this.bar) this.bar.set(address === NEW_TAB ? '' : address);
    ui.button(0, 2, 1, 'Back', () => this.back(), { label: '', icon: 'back' });
    ui.entry(1, 2, 12, 'Address and search bar', this.bar);
    const marked = this.isBookmarked();
    const star = {
      label: '',
      icon: marked ? 'star' : 'starOff',
      iconFg: marked ? C.star : C.line,
      checked: marked,
    } as const;
    ui.button(13, 2, 1, 'Bookmark this tab', () => this.toggleBookmark(), star);
    ui.menuButton(14, 2, 1, 'Menu', () => this.menuItems(), { label: '', icon: 'dots' });
    this.viewBookmarkBar(ui);
    ui.fill(0, PAGE_TOP, 15, PAGE_ROWS, C.field);
    if (ownTitle(address) !== null) viewOwnPage(ui, address, this.host, this.tab.offset);
    else viewPage(ui, browserPage(address, this.host), this.tab.input, this.host, this.tab.offset);
  }

  private viewTabs(ui: Ui): void {
    this.tabs.forEach((tab, index) => {
      const open = index === this.active;
      const bg = open ? C.field : C.tab;
      const name = this.titleOf(tab.address);
      const close = () => this.closeTab(index);
      ui.add('page-tab', index * 4, 1, 3, name, {
        bg,
        selected: open,
        click: () => this.showTab(index),
        middle: close,
      });
      ui.button(index * 4 + 3, 1, 1, 'Close Tab', close, { bg, label: '', icon: 'close' });
    });
    if (this.tabs.length < MAX_TABS)
      ui.button(this.tabs.length * 4, 1, 1, 'New Tab', () => this.openTab(), { label: '', icon: 'plus' });
  }

  private viewBookmarkBar(ui: Ui): void {
    ui.fill(0, 3, 15, 1, C.menuBar);
    this.profile
      .bookmarks()
      .slice(0, MAX_BOOKMARKS_SHOWN)
      .forEach(({ name, url }, index) => {
        ui.button(index * 3, 3, 3, name, () => this.go(addressOf(url)), {
          menu: () => this.bookmarkMenu(url),
          bg: C.menuBar,
        });
      });
  }

  override key(combo: string): boolean {
    const commands: Record<string, () => void> = {
      'ctrl+t': () => this.openTab(),
      'ctrl+w': () => this.closeTab(this.active),
      'ctrl+shift+t': () => this.reopen(),
      'ctrl+l': () => this.focusBar(),
      'ctrl+d': () => this.toggleBookmark(),
      'ctrl+h': () => this.go('chrome://history'),
      'ctrl+tab': () => this.showTab((this.active + 1) % this.tabs.length),
      'alt+left': () => this.back(),
      'ctrl+shift+delete': () => this.profile.clearHistory(),
    };
    commands[combo]?.();
    return combo in commands;
  }

  override scroll(rows: number): void {
    const { address } = this.tab;
    const blocks =
      ownTitle(address) === null ? browserPage(address, this.host).blocks.length : this.profile.history().length + 1;
    this.tab.offset = clampScroll(this.tab.offset + rows, blocks, PAGE_ROWS);
  }

  private get tab(): Tab {
    const tab = this.tabs[this.active] ?? this.tabs[0];
    if (tab) return tab;
    const fresh = newTab();
    this.tabs.push(fresh);
    return fresh;
  }

  private titleOf(address: string): string {
    return pageTitle(address, this.host);
  }

  private enterAddress(): void {
    const text = this.bar.text.trim();
    this.focus = null;
    if (text === '') return;
    const address = addressOf(text);
    if (text.includes('://') || (text.includes('.') && !text.includes(' '))) this.go(address);
    else
      this.go(
        `${this.profile.searchEngine.toLowerCase()}.test/search?q=${encodeURIComponent(text).replaceAll('%20', '+')}`,
      );
  }

  private go(address: string): void {
    const { tab } = this;
    if (tab.address !== address) tab.past.push(tab.address);
    this.show(tab, address);
  }

  private show(tab: Tab, address: string): void {
    tab.address = address;
    tab.input = new PageInput();
    tab.offset = 0;
    this.focus = null;
    if (address !== NEW_TAB && ownTitle(address) === null) this.profile.visit(urlOf(address), this.titleOf(address));
    this.saveTabs();
  }

  private back(): void {
    const before = this.tab.past.pop();
    if (before !== undefined) this.show(this.tab, before);
  }

  private addTab(): void {
    this.tabs.push(newTab());
    this.active = this.tabs.length - 1;
  }

  private openTab(): void {
    if (this.tabs.length >= MAX_TABS) return;
    this.addTab();
    this.focusBar();
    this.saveTabs();
  }

  private closeTab(index: number): void {
    this.closed.push(this.tabs[index]?.address ?? NEW_TAB);
    this.tabs.splice(index, 1);
    this.focus = null;
    if (this.tabs.length === 0) {
      this.tabs = [newTab()];
      this.system.closeApp(this);
    }
    this.active = Math.max(0, Math.min(this.active > index ? this.active - 1 : this.active, this.tabs.length - 1));
    this.saveTabs();
  }

  private reopen(): void {
    const address = this.closed.pop();
    if (address === undefined || this.tabs.length >= MAX_TABS) return;
    this.addTab();
    this.go(address);
  }

  private showTab(index: number): void {
    this.active = index;
    this.focus = null;
    this.saveTabs();
  }

  private focusBar(): void {
    this.bar.set(this.tab.address === NEW_TAB ? '' : this.tab.address);
    this.focus = this.bar;
    this.bar.clicked(false);
  }

  private saveTabs(): void {
    const tabs = this.tabs.map(({ address }) => ({ url: urlOf(address), title: this.titleOf(address) }));
    this.profile.saveTabs(this.active, tabs);
  }

  private menuItems(): MenuItem[] {
    return [
      { name: 'New Tab', run: () => this.openTab() },
      { name: 'Bookmarks', run: () => this.go('chrome://bookmarks') },
      { name: 'History', run: () => this.go('chrome://history') },
      { name: 'Settings', run: () => this.go('chrome://settings') },
    ];
  }

  private bookmarkMenu(url: string): MenuItem[] {
    return [
      { name: 'Open', run: () => this.go(addressOf(url)) },
      { name: 'Delete', run: () => this.profile.removeBookmark(url) },
    ];
  }

  private isBookmarked(): boolean {
    return this.profile.isBookmarked(urlOf(this.tab.address));
  }

  private toggleBookmark(): void {
    const { address } = this.tab;
    if (address !== NEW_TAB) this.profile.toggleBookmark({ name: this.titleOf(address), url: urlOf(address) });
  }
}

function newTab(): Tab {
  return { address: NEW_TAB, past: [], input: new PageInput(), offset: 0 };
}
