import { describe, expect, it } from 'vitest';
import { Hand, nodesOf } from '../../desktop.testing.ts';

const PROFILE = '/home/user/.config/google-chrome/Default';
const BAR = 'Address and search bar';

function browser(address?: string): Hand {
  return address ? new Hand().launch('google-chrome', address) : new Hand().launch('google-chrome');
}

const site = (hand: Hand) => hand.json(`${PROFILE}/SiteData`);
const urls = (hand: Hand) => (hand.json(`${PROFILE}/Session`).tabs as { url: string }[]).map((t) => t.url);

describe('chrome', () => {
  it('goes where the address bar says, follows links and comes back', () => {
    const hand = browser().click('entry', BAR).type('news.test\n').click('link', 'world');
    expect([hand.title, hand.find('entry', BAR).text]).toEqual(['world - Google Chrome', 'news.test/world']);
    hand.click('push-button', 'Back');
    expect(hand.title).toBe('news - Google Chrome');
    expect(hand.click('entry', BAR).type('nowhere.org\n').title).toBe('Not found - Google Chrome');
  });

  it('searches with the chosen engine', () => {
    const hand = browser('chrome://settings').click('radio-button', 'Duck').click('entry', BAR).type('otter\n');
    expect(hand.find('entry', BAR).text).toBe('duck.test/search?q=otter');
    expect(hand.click('link', 'otter').find('entry', BAR).text).toBe('wiki.test/otter');
  });

  it('opens, closes and reopens tabs', () => {
    const hand = new Hand().launch('google-chrome', 'shop.test', 'https://wiki.test/');
    expect(urls(hand)).toEqual(['https://shop.test/', 'https://wiki.test/']);
    hand.keys('ctrl', 't').type('news.test\n');
    expect(hand.has('push-button', 'New Tab')).toBe(false);
    hand.click('page-tab', 'wiki').keys('ctrl', 'w');
    expect(urls(hand)).toEqual(['https://shop.test/', 'https://news.test/']);
    hand.keys('ctrl', 'shift', 't');
    expect(urls(hand)).toContain('https://wiki.test/');
    const tab = hand.find('page-tab', 'shop').bounds!;
    hand.desktop.act({ type: 'middle_click', x: tab.x, y: tab.y });
    expect(urls(hand)).toEqual(['https://news.test/', 'https://wiki.test/']);
  });

  it('bookmarks and forgets pages', () => {
    const hand = browser('shop.test/fruit').click('push-button', 'Bookmark this tab');
    expect(hand.states('push-button', 'Bookmark this tab')).toContain('checked');
    const { roots } = hand.json(`${PROFILE}/Bookmarks`) as { roots: { bookmark_bar: { children: object[] } } };
    expect(roots.bookmark_bar.children).toMatchObject([{ type: 'url', name: 'fruit', url: 'https://shop.test/fruit' }]);
    hand.click('entry', BAR).type('news.test\n').click('push-button', 'fruit');
    expect(hand.title).toBe('fruit - Google Chrome');
    hand.menu('Menu', 'Bookmarks').context('list-item', 'fruit', 'Delete');
    expect(hand.text(`${PROFILE}/Bookmarks`)).not.toContain('fruit');
  });

  it('saves settings under the names that Chrome uses', () => {
    const hand = browser()
      .menu('Menu', 'Settings')
      .click('check-box', 'Do Not Track')
      .click('check-box', 'Safe Browsing');
    hand.click('radio-button', 'Continue').click('radio-button', 'Bing').click('radio-button', 'Large');
    expect(hand.json(`${PROFILE}/Preferences`)).toEqual({
      enable_do_not_track: true,
      safebrowsing: { enabled: false },
      session: { restore_on_startup: 1 },
      default_search_provider_data: { template_url_data: { short_name: 'Bing' } },
      webkit: { webprefs: { default_font_size: 20 } },
    });
    expect(hand.states('check-box', 'Safe Browsing')).not.toContain('checked');
  });

  it('remembers visited pages and clears them', () => {
    const hand = browser('wiki.test').click('link', 'moon').menu('Menu', 'History');
    const links = nodesOf(hand.desktop.accessibility()).filter((n) => n.role === 'link');
    expect(links.map((n) => n.name)).toEqual(['moon', 'wiki']);
    expect(JSON.parse(hand.text(`${PROFILE}/History`)!)[1]).toEqual({ url: 'https://wiki.test/moon', title: 'moon' });
    hand.click('push-button', 'Clear History');
    expect(hand.text(`${PROFILE}/History`)).toBe('[]\n');
  });

  it('shops', () => {
    const hand = browser('shop.test')
      .click('link', 'tools')
      .click('push-button', 'drill')
      .click('push-button', 'Add to Cart');
    expect(site(hand)).toEqual({ 'shop.test': { cart: ['drill'] } });
    hand.click('link', 'cart').click('push-button', 'Order');
    expect(site(hand)).toEqual({ 'shop.test': { cart: [], ordered: ['drill'] } });
  });

  it('sends forms as they are filled in', () => {
    const hand = browser('form.test')
      .click('entry', 'Name')
      .type('bob')
      .click('entry', 'City')
      .type('oslo')
      .click('push-button', 'Send');
    expect(hand.title).toBe('thanks - Google Chrome');
    expect(site(hand)).toEqual({ 'form.test': { name: 'bob', city: 'oslo', newsletter: false } });
    const club = browser('club.test').click('radio-button', 'Gold').click('push-button', 'Join');
    expect(club.text(`${PROFILE}/SiteData`)).toBeNull();
    club.click('check-box', 'Terms').click('push-button', 'Join');
    expect(site(club)).toEqual({ 'club.test': { plan: 'gold', terms: true } });
    expect(browser('wiki.test').click('entry', 'Search wiki').type('tea\n').title).toBe('tea - Google Chrome');
  });

  it('shows files', () => {
    const hand = new Hand()
      .write('/home/user/Documents/a.html', '<h1>hello</h1>\n')
      .open('/home/user/Documents/a.html');
    expect([hand.title, hand.has('label', 'hello')]).toEqual(['a.html - Google Chrome', true]);
  });
});
