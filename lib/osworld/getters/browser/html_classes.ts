import type { Page } from 'playwright-core';
import type { Fields } from '../../fields.ts';

/** What was found, by the keys that the task gives it. */
export type Found = Record<string, unknown>;

const OTHER = 'is_other_exist';

/** Texts of the elements of one class, in document order. */
type Texts = (page: Page, className: string) => Promise<string[]>;

const whole: Texts = (page, className) =>
  page.locator(`.${className}`).evaluateAll((elements) => elements.map((e) => (e.textContent ?? '').trim()));

/** Texts between the children of the first element: `<div>SEA<i></i>NYC</div>` has two. */
const ownTexts: Texts = (page, className) =>
  page.locator(`.${className}`).evaluateAll((elements) =>
    [...(elements[0]?.childNodes ?? [])]
      .filter((node) => node.nodeType === 3)
      .map((node) => (node.textContent ?? '').trim())
      .filter((text) => text !== ''),
  );

/** The first heading of each. */
const headings: Texts = (page, className) =>
  page
    .locator(`.${className}`)
    .evaluateAll((elements) =>
      elements.flatMap((e) =>
        e.querySelector('h3') === null ? [] : [(e.querySelector('h3')?.textContent ?? '').trim()],
      ),
    );

/** The first `span` of each product category below. */
const listItems: Texts = (page, className) =>
  page.locator(`.${className} li.catAllProducts`).evaluateAll((elements) =>
    elements.flatMap((e) => {
      const span = e.querySelector('span');
      // biome-ignore lint/performance/useDomNodeTextContent: OSWorld compares with the text as it is drawn.
      return span === null ? [] : [span.innerText.trim()];
    }),
  );

/** A class name that is no selector finds nothing. */
async function textsOf(texts: Texts, page: Page, className: string): Promise<string[]> {
  return texts(page, className).catch(() => []);
}

/**
 * Category `class`: `class_multiObject {class: {index: key}}` with its forms `_child` and `_only_child`,
 * `class_multiObject_search_exist {class: [text]}` and `class_singleObject {class: key}`.
 */
export async function classTexts(page: Page, config: Fields): Promise<Found> {
  const found: Found = {};
  const indexed: [string, Texts][] = [
    ['class_multiObject', whole],
    ['class_multiObject_child', ownTexts],
    ['class_multiObject_only_child', headings],
  ];
  for (const [field, texts] of indexed) {
    for (const [className, keys] of Object.entries(config.object(field, {}))) {
      const all = await textsOf(texts, page, className);
      for (const [index, key] of Object.entries(keys as object)) found[String(key)] = all[Number(index)] ?? '';
    }
  }
  for (const [className, names] of Object.entries(config.object('class_multiObject_search_exist', {}))) {
    Object.assign(found, presence(await textsOf(whole, page, className), names as string[]));
  }
  for (const [className, key] of Object.entries(config.object('class_singleObject', {}))) {
    found[String(key)] = (await textsOf(whole, page, className))[0] ?? '';
  }
  return found;
}

/** Whether each name is among the texts; `is_other_exist` among the names asks whether any other text is. */
function presence(texts: string[], names: string[]): Found {
  const found: Found = {};
  for (const name of names) if (name !== OTHER) found[name] = texts.includes(name);
  if (names.includes(OTHER)) found[OTHER] = texts.some((text) => !names.includes(text));
  return found;
}

/**
 * Category `class&url`: names that are among the texts of a class (`class_multiObject`, `class_multiObject_li`) or in
 * the address (`url_include_expected`, `url_include_expected_multichoice {part: name}`) are true; what the classes do
 * not show is looked for in the address. Names in small letters.
 */
export async function classAndUrl(page: Page, config: Fields): Promise<Found> {
  const found: Found = {};
  const fields: [string, Texts][] = [
    ['class_multiObject', whole],
    ['class_multiObject_li', listItems],
  ];
  for (const [field, texts] of fields) {
    for (const [className, list] of Object.entries(config.object(field, {}))) {
      const shown = (await textsOf(texts, page, className)).map((text) => text.toLowerCase());
      const names = (list as unknown[]).map((name) => String(name).toLowerCase());
      for (const name of names) if (shown.includes(name)) found[name] = true;
      if (shown.some((text) => names.every((name) => !name.includes(text)))) found[OTHER] = true;
      found[OTHER] ??= false;
    }
  }
  const address = page.url().toLowerCase();
  for (const name of config.texts('url_include_expected', [])) {
    found[name.toLowerCase()] ??= address.includes(name.toLowerCase());
  }
  for (const [part, name] of Object.entries(config.object('url_include_expected_multichoice', {}))) {
    found[String(name).toLowerCase()] ??= address.includes(part.toLowerCase());
  }
  return found;
}
