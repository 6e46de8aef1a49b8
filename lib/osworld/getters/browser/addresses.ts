import { activeUrl } from '../../browser/address_bar.ts';
import type { Fields } from '../../fields.ts';
import type { Getter } from '../../kinds.ts';

/** `{parse_keys, replace?, split_list?}`: parameters of the active tab's address, "" where one is missing. */
const urlParse: Getter = async (config, context) => {
  const url = await activeUrl(config, context);
  if (url === null) return null;
  const query = new URLSearchParams(/^[^?#]*\?([^#]*)/.exec(url)?.[1] ?? '');
  const found = new Map<string, string>();
  // Python leaves out a parameter without a value: a later one of that name counts.
  for (const key of config.texts('parse_keys')) found.set(key, query.getAll(key).find((v) => v !== '') ?? '');
  for (const [key, name] of Object.entries(config.object('replace', {}))) {
    const value = found.get(key);
    if (value === undefined) throw config.wrong('replace', 'names among the parse_keys');
    found.delete(key);
    found.set(String(name), value);
  }
  const entries = [...found].map(([key, value]) => [key, config.flag('split_list') ? value.split(',') : value]);
  return Object.fromEntries(entries);
};

/** `{partIndex, needDeleteId?, returnType: string|json, key?}`: a part between slashes, negative from the end. */
const dashPart: Getter = async (config, context) => {
  const url = await activeUrl(config, context);
  if (url === null) return null;
  const whole = url.split('/').at(config.number('partIndex'));
  if (whole === undefined) return null;
  const part = config.flag('needDeleteId') ? whole.split('?')[0]! : whole;
  const type = config.text('returnType');
  if (type === 'string') return part;
  if (type === 'json') return { [config.text('key')]: part };
  throw config.wrong('returnType', '"string" or "json"');
};

/** `{parse_keys}`: what the path of a Macy's list of products says of its filters. */
const macysPath: Getter = async (config, context) => {
  const url = await activeUrl(config, context);
  return url === null ? null : macysFilters(url, config);
};

const HALF_OFF = '50_PERCENT_ off & more';
const LESS_OFF = ['30_PERCENT_ off & more', '20_PERCENT_ off & more'];

function macysFilters(url: string, config: Fields): Record<string, unknown> {
  const path = decoded(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^?#;]*)/i.exec(url)?.[1] ?? '');
  const filters = filtersOf(path);
  const isShirts =
    path.includes('shirts') || ['shirts', 'Shirts', 'Shirt'].includes(String(filters.get('Product_department')));
  const isShort =
    path.includes('short-sleeve') || ['short-sleeve', 'Short Sleeve'].includes(String(filters.get('Sleeve_length')));
  const result: Record<string, unknown> = {
    mens_clothing: path.includes('mens-clothing') || null,
    shirts: isShirts || null,
    short_sleeve: isShort || null,
  };
  for (const key of config.texts('parse_keys')) {
    if (key === 'Price_discount_range') result[key] = discount(filters.get(key) ?? null);
    else if (key === 'Men_regular_size_t') result[key] = filters.get(key) ?? null;
    else if (filters.has(key)) result[key] = filters.get(key);
  }
  return result;
}

/** Two parts of the path with commas are names and values of the filters, in the same order. */
function filtersOf(path: string): Map<string, string | null> {
  const parts = path.replace(/^\/+|\/+$/g, '').split('/');
  const at = parts.findIndex((part, i) => part.includes(',') && parts[i + 1]?.includes(','));
  if (at < 0) return new Map();
  const values = parts[at + 1]!.split(',').map((value) => value.trim());
  const names = parts[at]!.split(',').map((name) => name.trim());
  return new Map(names.slice(0, values.length).map((name, i) => [name, values[i] || null]));
}

function discount(value: string | null): string {
  const ranges = (value ?? '').split('|').map((range) => range.trim());
  const isHalf = ranges.includes(HALF_OFF) && !LESS_OFF.some((less) => ranges.includes(less));
  return isHalf ? HALF_OFF : 'not_50_PERCENT_ off & more';
}

/** Percent signs that are no encoding stay, as in Python's `unquote`. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replace(/%/g, ''), 'hex').toString('utf8'));
}

export const addressGetters: Record<string, Getter> = {
  active_url_from_accessTree: activeUrl,
  active_tab_url_parse: urlParse,
  url_dashPart: dashPart,
  url_path_parse: macysPath,
  macys_product_url_parse: macysPath,
};
