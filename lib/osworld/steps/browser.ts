import type { Page } from 'playwright-core';
import { pause, SETUP_TRIES, usersContext, withBrowser } from '../browser/connection.ts';
import type { StepRunner } from '../kinds.ts';
import { sameUrl } from '../urls.ts';
import { updateHistory } from './browser/history.ts';

/** A page that takes longer is left as it is; it may still come. */
const PAGE_LIMIT_MS = 60_000;
/** OSWorld lets the browser settle so long before it closes tabs, ms. */
const SETTLE_MS = 5_000;

/**
 * `{urls_to_open}`: one tab each, in order; the tab that the browser started with is closed. Without a debugging port
 * (the embedded desktop) the browser opens them as it does when it is called with an address.
 */
const openTabs: StepRunner = async (parameters, context) => {
  const urls = parameters.texts('urls_to_open');
  if (context.cdpUrl === undefined) {
    for (const url of urls) await context.guest.launch(['google-chrome', url]);
    return;
  }
  await withBrowser(context, parameters.owner, SETUP_TRIES, async (browser) => {
    const window = usersContext(browser);
    for (const [index, url] of urls.entries()) {
      const page = await window.newPage();
      await open(page, url, context.signal);
      const first = window.pages()[0];
      if (index === 0 && first !== undefined && first !== page) await first.close();
    }
  });
};

async function open(page: Page, url: string, signal?: AbortSignal): Promise<void> {
  try {
    await page.goto(url, { timeout: PAGE_LIMIT_MS });
  } catch {
    // A site that is slow or gone is part of the world; OSWorld goes on too.
    signal?.throwIfAborted();
  }
}

/** `{urls_to_close}`: of each address one tab that shows it. */
const closeTabs: StepRunner = async (parameters, context) => {
  const urls = parameters.texts('urls_to_close');
  await pause(SETTLE_MS, context);
  await withBrowser(context, parameters.owner, SETUP_TRIES, async (browser) => {
    const window = usersContext(browser);
    for (const url of urls)
      await window
        .pages()
        .find((page) => sameUrl(page.url(), url))
        ?.close();
  });
};

export const browserSteps: Record<string, StepRunner> = {
  chrome_open_tabs: openTabs,
  chrome_close_tabs: closeTabs,
  update_browse_history: updateHistory,
};
