import type { Page } from 'playwright-core';
import { activeUrl, addressBars } from '../../browser/address_bar.ts';
import { agentsDoing, BrowserUnreachable, GETTER_TRIES, withBrowser } from '../../browser/connection.ts';
import { asObject, jsonObject, profileFile } from '../../browser/profile.ts';
import type { TaskContext } from '../../context.ts';
import type { Getter } from '../../kinds.ts';
import { isTimeout, type PageInfo, pageInfo, withOwnWindow } from './page.ts';

const TAB_LIMIT_MS = 30_000;
const PAGE_LIMIT_MS = 60_000;

interface Tab {
  title: string;
  url: string;
}

/**
 * `[{title, url}]` of every open tab. The embedded browser keeps them in its `Session` file; a real one tells them
 * through its debugging port, in no certain order. Without any browser there are none.
 */
const openTabs: Getter = async (config, context) => {
  if (context.cdpUrl === undefined) {
    const tabs = await embeddedTabs(context);
    if (tabs !== null) return tabs;
    if (addressBars(await context.guest.accessibility()).length === 0) return [];
  }
  try {
    return await withBrowser(context, config.owner, GETTER_TRIES, async (browser) => {
      const tabs: Tab[] = [];
      for (const page of browser.contexts().flatMap((each) => each.pages())) tabs.push(await tabOf(page));
      return tabs;
    });
  } catch (error) {
    if (error instanceof BrowserUnreachable) return agentsDoing(context, []);
    throw error;
  }
};

async function embeddedTabs(context: TaskContext): Promise<unknown[] | null> {
  const file = await profileFile('Default/Session', context);
  const session = file === null ? null : jsonObject(file.bytes);
  if (session === null) return null;
  return Array.isArray(session.tabs) ? session.tabs.map(asObject) : [];
}

/** OSWorld's words where a tab does not come to rest, or is gone before it was asked. */
async function tabOf(page: Page): Promise<Tab> {
  try {
    await page.waitForLoadState('networkidle', { timeout: TAB_LIMIT_MS });
    return { title: await page.title(), url: page.url() };
  } catch (error) {
    return { title: isTimeout(error) ? 'Load timeout' : 'Error encountered', url: page.url() };
  }
}

/**
 * `{title, url, content}` of the page that the active tab shows, loaded once more in a window of its own without the
 * user's cookies, as OSWorld does. Null without a browser, and where the page cannot be had.
 */
const activeTab: Getter = async (config, context) => {
  const url = await activeUrl(config, context);
  if (url === null) return null;
  try {
    const tries = { ...GETTER_TRIES, relaunch: false };
    return await withBrowser(context, config.owner, tries, (browser) =>
      withOwnWindow(browser, (page) => load(page, url)),
    );
  } catch (error) {
    if (error instanceof BrowserUnreachable) return agentsDoing(context, null);
    throw error;
  }
};

async function load(page: Page, url: string): Promise<PageInfo | null> {
  try {
    await page.goto(url, { waitUntil: 'load', timeout: PAGE_LIMIT_MS });
    return await pageInfo(page);
  } catch (error) {
    if (isTimeout(error)) return pageInfo(page, 'Load timeout');
    if (page.isClosed()) throw error;
    return null;
  }
}

export const tabGetters: Record<string, Getter> = { open_tabs_info: openTabs, active_tab_info: activeTab };
