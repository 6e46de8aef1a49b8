import { posix } from 'node:path';
import { queryRows } from '../../browser/database.ts';
import { asObject, jsonList, profileFile, profileJson } from '../../browser/profile.ts';
import type { Getter } from '../../kinds.ts';

/** The `roots` of the bookmarks file; an empty list when there is none. */
const bookmarks: Getter = async (_config, context) => {
  const data = await profileJson('Default/Bookmarks', context);
  return data === null ? [] : (data.roots ?? {});
};

/**
 * Visited pages as rows `[url, title, last visit]`, the visit in microseconds since 1601. The embedded browser keeps a
 * JSON list without times. Null when there is no history that can be read.
 */
const history: Getter = async (_config, context) => {
  const file = await profileFile('Default/History', context);
  if (file === null) return null;
  const visits = jsonList(file.bytes);
  if (visits !== null) return visits.map(asObject).map((visit) => [visit.url, visit.title]);
  return queryRows(file.bytes, 'SELECT url, title, last_visit_time FROM urls');
};

/** Rows of the cookie store, of which the second column is the host; null when there is none that can be read. */
const cookies: Getter = async (_config, context) => {
  const file =
    (await profileFile('Default/Cookies', context)) ?? (await profileFile('Default/Network/Cookies', context));
  return file === null ? null : queryRows(file.bytes, 'SELECT * FROM cookies');
};

/** Content of the `.desktop` files that lie on the desktop, by their names. */
const shortcuts: Getter = async (_config, { guest }) => {
  const folder = await guest.desktopPath();
  const tree = await guest.listDirectory(folder);
  const names = (tree?.children ?? []).map((child) => child.name).filter((name) => name.endsWith('.desktop'));
  const found: Record<string, string> = {};
  for (const name of names) {
    const bytes = await guest.readFile(posix.join(folder, name));
    if (bytes !== null) found[name] = new TextDecoder().decode(bytes);
  }
  return found;
};

export const recordGetters: Record<string, Getter> = {
  bookmarks,
  history,
  cookie_data: cookies,
  shortcuts_on_desktop: shortcuts,
};
