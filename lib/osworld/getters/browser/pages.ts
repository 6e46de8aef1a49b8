import type { Page } from 'playwright-core';
import { messageOf } from '../../../errors.ts';
import { GETTER_TRIES, pause, usersContext, withBrowser } from '../../browser/connection.ts';
import { type FetchedFile, type TaskContext, taskError } from '../../context.ts';
import type { Getter } from '../../kinds.ts';
import { pageInfo, readBrowser, withOwnWindow, withTab } from './page.ts';

const PAGE_LIMIT_MS = 60_000;
const SETTINGS_LIMIT_MS = 30_000;
const SEARCH_LIMIT_MS = 45_000;
/** OSWorld waits so long for what a page draws after it has loaded, ms. */
const DRAWING_MS = 3_000;

/** `{url}`: `{title, url, content}` of a page, loaded in a tab beside the user's, with the user's cookies. */
const pageInfoOf: Getter = (config, context) => {
  const url = config.text('url');
  const failed = { title: 'Connection failed', url, content: '' };
  return readBrowser(config, context, failed, (browser) =>
    withTab(usersContext(browser), async (page) => {
      await page.goto(url, { waitUntil: 'networkidle', timeout: PAGE_LIMIT_MS });
      return pageInfo(page);
    }),
  );
};

/**
 * `{path: URL, dest}`: the page printed to PDF with the browser's own defaults. An expected file: where it cannot be
 * had, the evaluator fails.
 */
const pdfFromUrl: Getter = async (config, context): Promise<FetchedFile> => {
  const url = config.text('path');
  const print = async (page: Page) => {
    await page.goto(url, { waitUntil: 'networkidle', timeout: PAGE_LIMIT_MS });
    await pause(DRAWING_MS, context);
    // Playwright's own `pdf` refuses browsers with a window, which can print as well.
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.printToPDF');
    return { name: config.text('dest', 'page.pdf'), bytes: Buffer.from(data, 'base64') };
  };
  try {
    return await withBrowser(context, config.owner, GETTER_TRIES, (browser) => withOwnWindow(browser, print));
  } catch (error) {
    throw unavailable(error, `${config.owner}: ${url} cannot be printed`, context);
  }
};

/** The HTML of the settings page with saved addresses. OSWorld asks a window that may not show settings: always "". */
const savedAddress: Getter = (config, context) =>
  readBrowser(config, context, '', (browser) =>
    withTab(usersContext(browser), async (page) => {
      await page.goto('chrome://settings/addresses', { waitUntil: 'networkidle', timeout: SETTINGS_LIMIT_MS });
      return page.content();
    }),
  );

/** How many results a search shows. OSWorld has address and selector in its code; no task uses it. */
const searchResults: Getter = (config, context) =>
  readBrowser(config, context, 0, (browser) =>
    withOwnWindow(browser, async (page) => {
      const url = 'https://google.com/search?q=query';
      await page.goto(url, { waitUntil: 'networkidle', timeout: SEARCH_LIMIT_MS });
      return page.locator('.search-result').count();
    }),
  );

/** The error of an expected getter whose page cannot be had: never a score. Our own errors stay as they are. */
export function unavailable(error: unknown, message: string, context: TaskContext): unknown {
  if (context.signal?.aborted || (error instanceof Error && 'where' in error)) return error;
  return taskError(context, `${message}: ${messageOf(error).split('\n')[0]}`, 'can the desktop reach that page?');
}

export const pageGetters: Record<string, Getter> = {
  page_info: pageInfoOf,
  pdf_from_url: pdfFromUrl,
  chrome_saved_address: savedAddress,
  number_of_search_results: searchResults,
};
