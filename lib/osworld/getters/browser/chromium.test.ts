import { chromium } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  chromiumPath,
  ProfileGuest,
  profileFolder,
  RealBrowser,
  removeFolder,
  Site,
} from '../../browser/chromium.testing.ts';
import { setupTask } from '../../setup.ts';
import { normaliseTask } from '../../task.ts';
import { get, showing } from './browser.testing.ts';

describe.skipIf(chromiumPath === null)('a real Chromium', { timeout: 180_000 }, () => {
  const profile = chromiumPath === null ? '' : profileFolder();
  const guest = new ProfileGuest(profile);
  const site = new Site();
  let browser: RealBrowser;

  beforeAll(async () => {
    await site.start();
    browser = await RealBrowser.start(profile, site.flagsFor('www.recreation.gov', 'google.com'));
  });

  afterAll(async () => {
    await browser?.close();
    site.close();
    removeFolder(profile);
  });

  const play = (type: string, parameters: object) => {
    const config = [{ type, parameters }];
    const task = normaliseTask({ id: 't1', instruction: 'do it', config, evaluator: { func: 'infeasible' } }, 'x');
    return setupTask(task, guest, { cdpUrl: browser.cdpUrl, protocol: { sleepScale: 0 } });
  };
  const ask = (type: string, config: object = {}, fidelity?: 'strict') =>
    get(type, guest, config, { cdpUrl: browser.cdpUrl, protocol: { fidelity } });
  const tabs = async () => (await ask('open_tabs_info')) as { title: string; url: string }[];
  const urls = async () => (await tabs()).map((tab) => tab.url).sort();

  beforeEach(async () => {
    // One blank tab, whatever the last test left.
    const connection = await chromium.connectOverCDP(browser.cdpUrl);
    const [context] = connection.contexts();
    const blank = await context!.newPage();
    for (const page of context!.pages()) if (page !== blank) await page.close();
    await connection.close();
    showing('', guest);
    guest.calls.length = 0;
  });

  it('chrome_open_tabs opens one tab each and closes the first; open_tabs_info names them', async () => {
    site.pages['/a'] = '<title>A</title>';
    site.pages['/b'] = '<title>B</title>';
    await play('chrome_open_tabs', { urls_to_open: [site.url('/a'), 'http://127.0.0.1:1/', site.url('/b')] });
    const open = await tabs();
    expect(open).toHaveLength(3);
    expect(open).toContainEqual({ title: 'A', url: site.url('/a') });
    expect(open).toContainEqual({ title: 'B', url: site.url('/b') });
    expect(guest.calls).toEqual([]);
  });

  it('chrome_close_tabs closes one tab of each address', async () => {
    site.pages['/a'] = '<title>A</title>';
    const [a, b] = [site.url('/a'), site.url('/b')];
    await play('chrome_open_tabs', { urls_to_open: [a, b, a] });
    await play('chrome_close_tabs', { urls_to_close: [a, site.url('/none')] });
    expect(await urls()).toEqual([a, b]);
  });

  it('active_tab_info loads the page again without cookies, and leaves the tabs alone', async () => {
    site.pages['/a'] = '<title>A</title><p>{cookie}</p>';
    await play('chrome_open_tabs', { urls_to_open: [site.url('/a'), site.url('/a')] });
    showing(site.url('/a'), guest);
    expect(await ask('active_tab_info', { goto_prefix: '' })).toEqual({
      title: 'A',
      url: site.url('/a'),
      content: expect.stringContaining('<p>none</p>'),
    });
    expect(await urls()).toEqual([site.url('/a'), site.url('/a')]);
    showing('127.0.0.1:1', guest);
    expect(await ask('active_tab_info', { goto_prefix: 'http://' })).toBeNull();
  });

  it('page_info loads a page with the cookies of the user, and closes its tab', async () => {
    site.pages['/cart'] = '<title>Cart</title><p>{cookie}</p>';
    await play('chrome_open_tabs', { urls_to_open: [site.url('/cart')] });
    const info = await ask('page_info', { url: site.url('/cart') });
    expect(info).toEqual({
      title: 'Cart',
      url: site.url('/cart'),
      content: expect.stringContaining('<p>seen=yes</p>'),
    });
    expect(await urls()).toEqual([site.url('/cart')]);
    const failed = { title: 'Connection failed', url: 'http://127.0.0.1:1/', content: '' };
    expect(await ask('page_info', { url: 'http://127.0.0.1:1/' })).toEqual(failed);
  });

  it('pdf_from_url prints a page; one that cannot be had is an error', async () => {
    site.pages['/post'] = '<h1>Post</h1>';
    const file = (await ask('pdf_from_url', { path: site.url('/post'), dest: 'gold.pdf' })) as { bytes: Uint8Array };
    expect(file).toMatchObject({ name: 'gold.pdf' });
    expect(Buffer.from(file.bytes).toString('latin1')).toMatch(/^%PDF-1\.\d[\s\S]*\/Count 1\b[\s\S]*%%EOF\s*$/);
    const failing = ask('pdf_from_url', { path: 'http://127.0.0.1:1/', dest: 'x.pdf' });
    await expect(failing).rejects.toThrow('http://127.0.0.1:1/ cannot be printed: ');
  });

  it('info_from_website reads texts and attributes, after clicks too', async () => {
    site.pages['/w'] = '<p id="name">Ada <b>L</b></p><a id="next" href="/x">x</a>';
    site.pages['/x'] = '<p>wait</p><a id="pdf" href="/paper.pdf">the paper</a>';
    const infos = [
      { action: 'inner_text', selector: '#name' },
      { action: 'attribute', selector: '#next', attribute: 'href' },
      { action: 'click_and_attribute', selector: ['#next', '#pdf'], attribute: 'href' },
      { action: 'click_and_inner_text', selector: ['#next', '#pdf'] },
    ];
    const found = await ask('info_from_website', { url: site.url('/w'), infos });
    expect(found).toEqual(['Ada L', '/x', '/paper.pdf', 'the paper']);
    expect(await urls()).toEqual(['about:blank']);
    const dead = { url: 'http://127.0.0.1:1/', infos };
    expect(await ask('info_from_website', { ...dead, backups: ['kept'] })).toEqual(['kept']);
    await expect(ask('info_from_website', dead)).rejects.toThrow('http://127.0.0.1:1/ cannot be read: ');
    const odd = { url: site.url('/w'), infos: [{ action: 'guess', selector: '#name' }] };
    await expect(ask('info_from_website', odd)).rejects.toThrow('action should be inner_text or attribute');
  });

  it('gotoRecreationPage_and_get_html_content searches, opens the result and reads the next free date', async () => {
    site.pages['/'] =
      '<input id="hero-search-input"><button class="nav-search-button" onclick="show()">go</button>' +
      '<a id="r" target="_blank" href="/camp"></a><script>function show() { ' +
      'r.textContent = document.getElementById("hero-search-input").value; ' +
      'if (r.textContent === "Diamond") r.className = "search-result-highlight--success" }</script>';
    const column = (text: string) => `<th class="col">${text}</th>`;
    site.pages['/camp'] =
      `<table><tr>${column('Sites')}${column('Loop')}${column('<i>old</i>')}</tr></table>` +
      '<button class="next-available" onclick="document.querySelector(\'i\').textContent = \' Mon 7 \'">next</button>';
    const config = { selector: 'class', class: 'col' };
    const getter = 'gotoRecreationPage_and_get_html_content';
    expect(await ask(getter, { ...config, order: '2' })).toEqual({ expected: { col: 'Mon 7' } });
    expect(await ask(getter, config)).toEqual({ expected: { col: 'Sites' } });
    expect(await urls()).toEqual(['about:blank']);
  });

  it('chrome_appearance_mode_ui leaves the settings page open in front, except under strict', async () => {
    await ask('chrome_appearance_mode_ui', {}, 'strict');
    expect(await urls()).toEqual(['about:blank']);
    await ask('chrome_appearance_mode_ui');
    expect(await urls()).toEqual(['about:blank', 'chrome://settings/appearance']);
  });

  it('chrome_saved_address reads the settings, number_of_search_results a search', async () => {
    expect(await ask('chrome_saved_address')).toContain('<settings-ui');
    expect(await ask('number_of_search_results')).toBe(0);
    site.pages['/search'] = '<p class="search-result">1</p><p class="search-result">2</p>';
    expect(await ask('number_of_search_results')).toBe(2);
    expect(await urls()).toEqual(['about:blank']);
  });

  describe('active_tab_html_parse', () => {
    const PAGE =
      '<title>Shop</title><p class="info">one</p><p class="info"> two <b>bold</b></p>' +
      '<div class="from-to">SEA<i>-</i>NYC</div><div class="slot"><h3> Mon </h3>x</div><div class="slot">no heading</div>' +
      '<ul class="crumbs"><li class="catAllProducts"><span>Toys</span></li><li class="catAllProducts">bare</li></ul>' +
      '<p>Total price: <b>5</b></p><form><input value=" Ann "><input value=""></form>';
    const parse = async (config: object, path = '/shop') => {
      site.pages[path] = PAGE;
      await play('chrome_open_tabs', { urls_to_open: [site.url('/other'), `${site.url(path)}?c=Kids%20Toys`] });
      showing(`${site.url(path)}?c=Kids Toys`, guest);
      return ask('active_tab_html_parse', { goto_prefix: '', ...config });
    };

    it('class: one or several elements, own texts, headings, and what is there', async () => {
      const config = {
        category: 'class',
        class_singleObject: { info: 'first', none: 'missing' },
        class_multiObject: { info: { 1: 'second', 5: 'far' } },
        class_multiObject_child: { 'from-to': { 0: 'start', 1: 'end', 2: 'more' } },
        class_multiObject_only_child: { slot: { 0: 'day', 1: 'none' } },
        class_multiObject_search_exist: { info: ['one', 'three', 'is_other_exist'] },
      };
      expect(await parse(config)).toEqual({
        ...{ first: 'one', missing: '', second: 'two bold', far: '', start: 'SEA', end: 'NYC', more: '' },
        ...{ day: 'Mon', none: '', one: true, three: false, is_other_exist: true },
      });
    });

    it('label, xpath and input', async () => {
      expect(await parse({ category: 'label', labelObject: { 'Total price': 'price' } })).toEqual({
        price: 'Total price: 5',
      });
      const xpathObject = { '/html/body/p[1]': 'one', '//p[@class="info"]/b': 'bold', '//h6': 'none', h3: 'day' };
      expect(await parse({ category: 'xpath', xpathObject })).toEqual({
        one: 'one',
        bold: 'bold',
        none: '',
        day: 'Mon',
      });
      const inputObject = { '/html/body/form/input[1]': 'name', '//form/input[2]': 'empty', '//form/input[3]': 'none' };
      expect(await parse({ category: 'input', inputObject })).toEqual({ name: 'Ann', empty: '', none: '' });
    });

    it('class&url: what elements or the address say', async () => {
      const shown = { category: 'class&url', class_multiObject: { info: ['One', 'two bold', 'blue'] } };
      expect(await parse({ ...shown, url_include_expected: ['blue', 'Toys', 'One'] })).toEqual({
        ...{ one: true, 'two bold': true, blue: false, toys: true, is_other_exist: false },
      });
      const listed = { category: 'class&url', class_multiObject_li: { crumbs: ['Games'] } };
      expect(await parse({ ...listed, url_include_expected_multichoice: { 'c=kids': 'Kids', zzz: 'Other' } })).toEqual({
        ...{ is_other_exist: true, kids: true, other: false },
      });
    });

    it('an address that no tab has gives nothing; an unknown category is an error', async () => {
      await parse({ category: 'class' });
      showing(site.url('/elsewhere'), guest);
      expect(await ask('active_tab_html_parse', { goto_prefix: '', category: 'class' })).toEqual({});
      showing('', guest);
      expect(await ask('active_tab_html_parse', { category: 'class' })).toBeNull();
      await expect(parse({ category: 'colour' })).rejects.toThrow('category should be one of class, class&url, label');
    });
  });
});
