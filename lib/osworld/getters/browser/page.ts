import type { Browser, BrowserContext, Page } from 'playwright-core';
import { agentsDoing, BrowserUnreachable, GETTER_TRIES, pause, withBrowser } from '../../browser/connection.ts';
import type { TaskContext } from '../../context.ts';
import type { Fields } from '../../fields.ts';

/** A page as OSWorld's metrics look at it. */
export interface PageInfo {
  title: string;
  url: string;
  /** Its HTML as it is now. */
  content: string;
}

/** OSWorld tries a page so often, and waits so long between two tries. */
const ATTEMPTS = 2;
const ATTEMPT_PAUSE_MS = 3_000;

/** True where Playwright waited for as long as it was allowed to. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

/** What the page shows now; `title` in place of its own where it did not load. */
export async function pageInfo(page: Page, title?: string): Promise<PageInfo> {
  return { title: title ?? (await page.title()), url: page.url(), content: await page.content() };
}

/** Opens a tab for `use` and closes it again, whatever happens. */
export async function withTab<T>(context: BrowserContext, use: (page: Page) => Promise<T>): Promise<T> {
  const page = await context.newPage();
  try {
    return await use(page);
  } finally {
    await page.close().catch(() => {});
  }
}

/** Opens a window without the user's cookies for `use`, and closes it again. */
export async function withOwnWindow<T>(browser: Browser, use: (page: Page) => Promise<T>): Promise<T> {
  const own = await browser.newContext();
  try {
    return await withTab(own, use);
  } finally {
    await own.close().catch(() => {});
  }
}

/**
 * What `use` reads in the browser. Where there is none, or its page cannot be had in two attempts, `otherwise`: OSWorld
 * takes that for something the agent did. A desktop that is gone itself is still an error.
 */
export async function readBrowser<T>(
  config: Fields,
  context: TaskContext,
  otherwise: T,
  use: (browser: Browser) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withBrowser(context, config.owner, GETTER_TRIES, use);
    } catch (error) {
      if (!isPages(error) && !(error instanceof BrowserUnreachable)) throw error;
      if (attempt >= ATTEMPTS || error instanceof BrowserUnreachable) return agentsDoing(context, otherwise);
      await pause(ATTEMPT_PAUSE_MS, context);
    }
  }
}

/** True for what Playwright says of a page; our own errors name the task. */
function isPages(error: unknown): boolean {
  return error instanceof Error && !('where' in error) && error.name !== 'AbortError';
}
