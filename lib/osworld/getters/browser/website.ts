import type { Page } from 'playwright-core';
import { GETTER_TRIES, usersContext, withBrowser } from '../../browser/connection.ts';
import { Fields } from '../../fields.ts';
import type { Getter } from '../../kinds.ts';
import { withTab } from './page.ts';
import { unavailable } from './pages.ts';

const ELEMENT_LIMIT_MS = 10_000;

/**
 * `{url, infos: [{action, selector, attribute?}], backups?}`: texts or attributes of a page, each after the clicks that
 * lead to it. Where the page cannot be read, `backups`; without them the evaluator fails.
 */
const infoFromWebsite: Getter = async (config, context) => {
  const url = config.text('url');
  const infos = config
    .list('infos', [])
    .map((info, i) => new Fields(`${config.owner}.infos[${i}]`, config.where, info));
  try {
    return await withBrowser(context, config.owner, GETTER_TRIES, (browser) =>
      withTab(usersContext(browser), (page) => readAll(page, url, infos)),
    );
  } catch (error) {
    context.signal?.throwIfAborted();
    if (config.has('backups')) return config.values.backups;
    throw unavailable(error, `${config.owner}: ${url} cannot be read`, context);
  }
};

async function readAll(page: Page, url: string, infos: Fields[]): Promise<unknown[]> {
  await page.goto(url);
  const values: unknown[] = [];
  for (const info of infos) {
    if (page.url() !== url) await page.goto(url);
    values.push(await readOne(page, info));
  }
  return values;
}

async function readOne(page: Page, info: Fields): Promise<string | null> {
  const action = info.text('action', 'inner_text');
  const match = /^(click_and_)?(inner_text|attribute)$/.exec(action);
  if (match === null) throw info.wrong('action', 'inner_text or attribute, alone or after click_and_');
  const selectors = info.texts('selector');
  const clicks = match[1] === undefined ? [] : selectors.slice(0, -1);
  for (const selector of clicks) {
    await (await attached(page, selector)).click();
    await page.waitForLoadState('load');
  }
  const element = await attached(page, selectors.at(-1)!);
  // biome-ignore lint/performance/useDomNodeTextContent: OSWorld compares with the text as it is drawn.
  return match[2] === 'inner_text' ? element.innerText() : element.getAttribute(info.text('attribute'));
}

function attached(page: Page, selector: string) {
  return page.waitForSelector(selector, { state: 'attached', timeout: ELEMENT_LIMIT_MS });
}

export const websiteGetters: Record<string, Getter> = { info_from_website: infoFromWebsite };
