import type { AccessibleNode } from '../../guest/guest.ts';
import { type TaskContext, taskError } from '../context.ts';
import type { Getter } from '../kinds.ts';
import { nodesOf } from '../tree.ts';
import { guestFile } from './files.ts';

const PROFILE = '/home/user/.config/google-chrome/Default';

type Json = Record<string, unknown>;

/** The browser's preferences; an empty object where they are missing or broken, as OSWorld falls back to defaults. */
async function preferences(context: TaskContext): Promise<Json> {
  return (await profileJson('Preferences', context)) ?? {};
}

async function profileJson(name: string, context: TaskContext): Promise<Json | null> {
  const file = await guestFile(`${PROFILE}/${name}`, context);
  if (file === null) return null;
  try {
    return asObject(JSON.parse(new TextDecoder().decode(file.bytes)));
  } catch {
    return null;
  }
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

/** A getter of one preference. */
function preference(read: (data: Json) => unknown): Getter {
  return async (_config, context) => read(await preferences(context));
}

/** OSWorld's flags are the strings "true" and "false". */
function flag(read: (data: Json) => unknown): Getter {
  return preference((data) => (read(data) ? 'true' : 'false'));
}

const safeBrowsing = flag((data) => {
  const settings = asObject(data.safebrowsing);
  return settings.enhanced || settings.enabled;
});

/** A profile without `session` has never been changed: it starts with the new tab page, which is code 5. */
const newStartupPage = flag((data) => !('session' in data) || asObject(data.session).restore_on_startup === 5);

const deletesData = flag((data) => asObject(data.profile).default_content_setting_values != null);

const searchEngine = preference((data) => {
  const template = asObject(asObject(data.default_search_provider_data).template_url_data);
  return template.short_name ?? 'Google';
});

const FONT_DEFAULTS = { default_fixed_font_size: 13, default_font_size: 16, minimum_font_size: 13 };

const fontSize = preference((data) => asObject(data.webkit).webprefs ?? FONT_DEFAULTS);

/** The `roots` of the bookmarks file; an empty list when there is none. */
const bookmarks: Getter = async (_config, context) => {
  const data = await profileJson('Bookmarks', context);
  return data === null ? [] : (data.roots ?? {});
};

/** `{goto_prefix?}`: the address bar's text with the prefix (default `https://`), null without a browser. */
const activeUrl: Getter = async (config, context) => {
  const entry = addressBar(await context.guest.accessibility());
  const text = entry?.text;
  if (text === undefined) return null;
  return /^[a-z]+:\/\//.test(text) ? text : `${config.text('goto_prefix', 'https://')}${text}`;
};

function addressBar(tree: AccessibleNode): AccessibleNode | undefined {
  for (const node of nodesOf(tree)) {
    if (node.role !== 'application' || node.name !== 'Google Chrome') continue;
    const entry = [...nodesOf(node)].find((child) => child.role === 'entry' && child.name === 'Address and search bar');
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/**
 * `[{title, url}]` of every open tab, in order. The embedded browser keeps them in its `Session` file; a real one tells
 * them only through its debugging port.
 */
const openTabs: Getter = async (config, context) => {
  const session = await profileJson('Session', context);
  if (session !== null) return Array.isArray(session.tabs) ? session.tabs : [];
  if (addressBar(await context.guest.accessibility()) === undefined) return [];
  throw taskError(context, `${config.owner}: this browser does not tell its tabs without a debugging port`);
};

/** Visited pages as rows `[url, title]`, newest last, from the embedded browser's `History` list. */
const history: Getter = async (_config, context) => {
  const visits = await profileJson('History', context);
  return Array.isArray(visits) ? visits.map((visit) => [visit.url, visit.title]) : [];
};

export const browserGetters: Record<string, Getter> = {
  enable_do_not_track: flag((data) => data.enable_do_not_track),
  enable_safe_browsing: safeBrowsing,
  new_startup_page: newStartupPage,
  data_delete_automacally: deletesData,
  profile_name: preference((data) => asObject(data.profile).name ?? null),
  default_search_engine: searchEngine,
  chrome_font_size: fontSize,
  bookmarks,
  active_url_from_accessTree: activeUrl,
  open_tabs_info: openTabs,
  history,
};
