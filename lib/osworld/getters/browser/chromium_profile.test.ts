import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  chromiumPath,
  ProfileGuest,
  profileFolder,
  RealBrowser,
  removeFolder,
  Site,
} from '../../browser/chromium.testing.ts';
import type { TaskOptions } from '../../context.ts';
import { setupTask } from '../../setup.ts';
import { normaliseTask } from '../../task.ts';
import { get } from './browser.testing.ts';

const PATIENCE = { timeout: 60_000, interval: 100 };

const site = new Site();
const folders: string[] = [];

beforeAll(async () => {
  await site.start();
});

afterAll(() => {
  site.close();
  for (const folder of folders) removeFolder(folder);
});

function newProfile(files: Record<string, unknown> = {}): string {
  const folder = profileFolder(files);
  folders.push(folder);
  return folder;
}

/** Runs a browser on the profile for as long as `use` takes, and lets it write its files. */
async function withBrowserOn(folder: string, use: (browser: RealBrowser) => Promise<void>): Promise<void> {
  const browser = await RealBrowser.start(folder);
  try {
    await use(browser);
  } finally {
    await browser.close();
  }
}

async function visit(browser: RealBrowser, path: string): Promise<void> {
  const connection = await chromium.connectOverCDP(browser.cdpUrl);
  await connection.contexts()[0]!.pages()[0]!.goto(site.url(path));
  await connection.close();
}

const link = (name: string, url: string) => ({ type: 'url', name, url });
const barWith = (...children: object[]) => ({
  roots: {
    bookmark_bar: { type: 'folder', name: 'Bookmarks bar', children },
    other: { type: 'folder', name: 'Other bookmarks', children: [] },
    synced: { type: 'folder', name: 'Mobile bookmarks', children: [] },
  },
  version: 1,
});

describe.skipIf(chromiumPath === null)('the profile of a real Chromium', { timeout: 180_000 }, () => {
  it('has history, cookies, preferences and bookmarks where the getters look for them', async () => {
    const folder = newProfile({
      'Default/Preferences': {
        enable_do_not_track: true,
        session: { restore_on_startup: 1 },
        profile: { name: 'Thomas' },
        webkit: { webprefs: { default_font_size: 20 } },
      },
      'Default/Bookmarks': barWith({ type: 'folder', name: 'Likes', children: [link('A', 'https://a.com/')] }),
    });
    site.pages['/seen'] = '<title>Seen</title>';
    await withBrowserOn(folder, (browser) => visit(browser, '/seen'));
    const guest = new ProfileGuest(folder);
    const visits = (await get('history', guest, { dest: 'h' })) as unknown[][];
    expect(visits.map((row) => row.slice(0, 2))).toContainEqual([site.url('/seen'), 'Seen']);
    // Microseconds since 1601: later than 2020.
    expect(Number(visits[0]![2])).toBeGreaterThan(13_222_310_400_000_000);
    const cookies = (await get('cookie_data', guest, { dest: 'c' })) as unknown[][];
    expect(cookies.map((row) => row[1])).toContain('127.0.0.1');
    expect(await get('enable_do_not_track', guest)).toBe('true');
    expect(await get('new_startup_page', guest)).toBe('false');
    expect(await get('profile_name', guest)).toBe('Thomas');
    expect(await get('chrome_font_size', guest)).toMatchObject({ default_font_size: 20 });
    expect(await get('default_search_engine', guest)).toMatch(/Google|DuckDuckGo/);
    expect(await get('chrome_language', guest)).toMatch(/^[a-z]{2}/);
    expect(await get('bookmarks', guest)).toMatchObject({
      bookmark_bar: { children: [{ type: 'folder', name: 'Likes', children: [link('A', 'https://a.com/')] }] },
    });
  });

  it.each([
    [1, 'light'],
    [2, 'dark'],
  ])('with colour scheme %i shows %s on its settings page', async (scheme, mode) => {
    const theme = { color_scheme: scheme, color_scheme2: scheme };
    const folder = newProfile({ 'Default/Preferences': { browser: { theme } } });
    await withBrowserOn(folder, async ({ cdpUrl }) => {
      // An empty profile for the files, so that the answer comes from the page.
      const guest = new ProfileGuest(newProfile());
      const shown = (options: TaskOptions) => () => get('chrome_appearance_mode_ui', guest, {}, { cdpUrl, ...options });
      // The page draws its settings some time after it has loaded.
      await expect.poll(shown({ protocol: { fidelity: 'strict' } }), PATIENCE).toBe(mode);
      // A headless browser has no theme of the system.
      await expect.poll(shown({}), PATIENCE).toBe('light');
    });
    expect(await get('chrome_color_scheme', new ProfileGuest(folder))).toBe(mode);
  });

  it('takes the history that update_browse_history gives it, in place of its own', async () => {
    const history = [
      { url: 'https://www.youtube.com/watch?v=1', title: 'One', visit_time_from_now_in_seconds: 3600 },
      { url: 'https://www.nytimes.com/', title: 'Times', visit_time_from_now_in_seconds: 60 },
    ];
    const config = [{ type: 'update_browse_history', parameters: { history } }];
    const task = normaliseTask({ id: 't1', instruction: 'do it', config, evaluator: { func: 'infeasible' } }, 'x');
    const folder = newProfile();
    const guest = new ProfileGuest(folder);
    const seen = async () => ((await get('history', guest)) as unknown[][]).map((row) => row[0]).sort();
    const given = ['https://www.nytimes.com/', 'https://www.youtube.com/watch?v=1'];
    const before = Date.now();
    await setupTask(task, guest);
    expect(await seen()).toEqual(given);
    const [, , time] = ((await get('history', guest)) as unknown[][]).find((row) => row[1] === 'Times')!;
    const ago = before - (Number(time) / 1000 + Date.UTC(1601, 0, 1));
    expect(ago).toBeGreaterThan(0);
    expect(ago).toBeLessThanOrEqual(60_000 + 1);
    // A browser that opens it keeps the rows and adds its own.
    await withBrowserOn(folder, (browser) => visit(browser, '/more'));
    expect(await seen()).toEqual([site.url('/more'), ...given]);
    // The second time its own database is there, with rows of its own.
    await setupTask(task, guest);
    expect(await seen()).toEqual(given);
    await withBrowserOn(folder, (browser) => visit(browser, '/again'));
    expect(await seen()).toEqual([site.url('/again'), ...given]);
  });

  it('of the embedded desktop gets the history as the list that it keeps', async () => {
    const folder = newProfile({ 'Default/History': [{ url: 'https://a.test/', title: 'a' }] });
    const history = [{ url: 'https://b.test/', title: 'b', visit_time_from_now_in_seconds: 1 }];
    const config = [{ type: 'update_browse_history', parameters: { history } }];
    const task = normaliseTask({ id: 't1', instruction: 'do it', config, evaluator: { func: 'infeasible' } }, 'x');
    const guest = new ProfileGuest(folder);
    await setupTask(task, guest);
    expect(await get('history', guest)).toEqual([['https://b.test/', 'b']]);
  });
});
