import type { Browser, Locator, Page } from 'playwright-core';
import { activeUrl } from '../../browser/address_bar.ts';
import { agentsDoing, BrowserUnreachable, GETTER_TRIES, withBrowser } from '../../browser/connection.ts';
import type { TaskContext } from '../../context.ts';
import type { Fields } from '../../fields.ts';
import type { Getter } from '../../kinds.ts';
import { classAndUrl, classTexts, type Found } from './html_classes.ts';

const REST_LIMIT_MS = 60_000;
/** Playwright's own limit, which OSWorld leaves as it is. */
const ELEMENT_LIMIT_MS = 30_000;

/**
 * `{category, …}`: texts of elements in the active tab, as an object with the keys that the task gives them, "" for
 * what is not there. The tab is read as it stands, nothing is loaded again. Null without an address bar; an empty object
 * where no tab has that address.
 */
const htmlParse: Getter = async (config, context) => {
  const url = await activeUrl(config, context);
  if (url === null) return null;
  const read = READERS[config.text('category')];
  if (read === undefined) throw config.wrong('category', `one of ${Object.keys(READERS).join(', ')}`);
  try {
    return await withBrowser(context, config.owner, GETTER_TRIES, async (browser) => {
      const page = await pageAt(browser, url, context);
      return page === null ? {} : await read(page, config);
    });
  } catch (error) {
    if (error instanceof BrowserUnreachable) return agentsDoing(context, null);
    throw error;
  }
};

/** The tab with that address. A tab that does not come to rest is not looked at, as in OSWorld; `strict` looks. */
async function pageAt(browser: Browser, url: string, context: TaskContext): Promise<Page | null> {
  for (const page of browser.contexts().flatMap((each) => each.pages())) {
    const rests = await page.waitForLoadState('networkidle', { timeout: REST_LIMIT_MS }).then(
      () => true,
      () => false,
    );
    if (!rests && (context.protocol.fidelity !== 'strict' || page.isClosed())) continue;
    if (plain(page.url()) === plain(url)) return page;
  }
  return null;
}

/** Without percent signs and the slash at the end: the address bar shows neither. */
function plain(url: string): string {
  let text = url;
  try {
    text = decodeURIComponent(url);
  } catch {
    // Not every percent sign is an encoding.
  }
  return text.replace(/\/+$/, '');
}

type Reader = (page: Page, config: Fields) => Promise<Found>;

const READERS: Record<string, Reader> = {
  class: classTexts,
  'class&url': classAndUrl,
  /** `{labelObject: {text: key}}`: the first element with that text. */
  label: (page, config) =>
    each(config.object('labelObject', {}), (text) =>
      page.locator(`text=${text}`).first().textContent({ timeout: ELEMENT_LIMIT_MS }),
    ),
  /** `{xpathObject: {xpath: key}}`: texts; what is no XPath is taken for a selector. */
  xpath: (page, config) =>
    each(config.object('xpathObject', {}), async (xpath) => {
      const text = await textOfFirst(page.locator(`xpath=${xpath}`));
      return text ?? textOfFirst(page.locator(xpath));
    }),
  /** `{inputObject: {xpath: key}}`: what is typed into inputs. */
  input: (page, config) =>
    each(config.object('inputObject', {}), async (xpath) => {
      const inputs = page.locator(`xpath=${xpath}`);
      return (await inputs.count()) === 0 ? null : inputs.first().inputValue({ timeout: ELEMENT_LIMIT_MS });
    }),
};

/** One text a key, trimmed; "" where it cannot be had. */
async function each(keys: Record<string, unknown>, read: (from: string) => Promise<string | null>): Promise<Found> {
  const found: Found = {};
  for (const [from, key] of Object.entries(keys)) {
    const text = await read(from).catch(() => null);
    found[String(key)] = (text ?? '').trim();
  }
  return found;
}

/** Null where nothing is found. */
async function textOfFirst(elements: Locator): Promise<string | null> {
  return (await elements.count()) === 0 ? null : elements.first().textContent({ timeout: ELEMENT_LIMIT_MS });
}

export const htmlGetters: Record<string, Getter> = { active_tab_html_parse: htmlParse };
