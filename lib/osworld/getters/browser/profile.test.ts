import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { FakeGuest } from '../../guest.testing.ts';
import { get, golden, PROFILE, showing } from './browser.testing.ts';

const LOCAL = new Set(['enabled_experiments', 'chrome_language']);
const fileOf = (getter: string) =>
  LOCAL.has(getter) ? 'Local State' : getter === 'bookmarks' ? 'Default/Bookmarks' : 'Default/Preferences';

const PREFERENCE_ROWS = golden.preferences.flatMap(({ file, values }) =>
  Object.entries(values).map(([getter, value]) => [getter, file, value] as const),
);

function profileWith(files: Record<string, unknown>): FakeGuest {
  const guest = new FakeGuest();
  for (const [name, json] of Object.entries(files)) guest.put(`${PROFILE}/${name}`, JSON.stringify(json));
  return guest;
}

describe('preferences', () => {
  it.each(PREFERENCE_ROWS)('%s of %s', async (getter, file, value) => {
    const guest = new FakeGuest();
    if (file !== null) guest.put(`${PROFILE}/${fileOf(getter)}`, file);
    expect(await get(getter, guest)).toEqual(value);
  });

  it('every one of them has a value of its own among those rows, besides that of an empty profile', () => {
    const [empty, ...others] = golden.preferences;
    const same = Object.keys(empty!.values).filter((getter) =>
      others.every(({ values }) => [empty!.values[getter], 'Google'].includes(values[getter])),
    );
    expect(same).toEqual([]);
  });

  it('are those of the first browser that has some', async () => {
    const json = JSON.stringify({ profile: { name: 'Chromium' } });
    const guest = new FakeGuest().put('/home/user/.config/chromium/Default/Preferences', json);
    expect(await get('profile_name', guest)).toBe('Chromium');
    guest.put(`${PROFILE}/Default/Preferences`, JSON.stringify({ profile: { name: 'Chrome' } }));
    expect(await get('profile_name', guest)).toBe('Chrome');
  });

  it('lie in the home folder of whoever has the desktop', async () => {
    const guest = new FakeGuest();
    guest.desktopPath = async () => '/root/Desktop';
    guest.put('/root/.config/google-chrome/Default/Preferences', JSON.stringify({ profile: { name: 'Root' } }));
    expect(await get('profile_name', guest)).toBe('Root');
  });
});

describe('extensions', () => {
  it('are looked for in the second file of newer browsers too', async () => {
    const settings = { a: { path: '/e', manifest: { name: 'E' } } };
    const guest = profileWith({
      'Default/Preferences': {},
      'Default/Secure Preferences': { extensions: { settings } },
    });
    expect(await get('find_unpacked_extension_path', guest)).toEqual(['/e']);
    expect(await get('find_installed_extension_name', guest)).toEqual(['E']);
  });

  it('without a manifest spoil the list, except under strict', async () => {
    const settings = { a: { path: '/e', manifest: { name: 'E' } }, b: { path: '/own' } };
    const guest = profileWith({ 'Default/Preferences': { extensions: { settings } } });
    expect(await get('find_installed_extension_name', guest)).toBe('Google');
    const protocol = { fidelity: 'strict' } as const;
    expect(await get('find_installed_extension_name', guest, {}, { protocol })).toEqual(['E']);
    expect(await get('find_unpacked_extension_path', guest, {}, { protocol })).toEqual(['/e', '/own']);
  });
});

describe('records of the profile', () => {
  it('bookmarks are the roots of the file', async () => {
    const guest = profileWith({ 'Default/Bookmarks': { roots: { bookmark_bar: { children: [] } } } });
    expect(await get('bookmarks', guest)).toEqual({ bookmark_bar: { children: [] } });
  });

  it('history and cookie_data are rows of databases, also of one in write-ahead mode', async () => {
    const guest = new FakeGuest();
    for (const mode of [1, 2]) {
      guest.files.set(
        `${PROFILE}/Default/History`,
        database('urls (url, title, last_visit_time)', ['u', 't', 5], mode),
      );
      guest.files.set(`${PROFILE}/Default/Cookies`, database('cookies (creation_utc, host_key)', [5, '.a.com'], mode));
      expect(await get('history', guest, { dest: 'h' })).toEqual([['u', 't', 5]]);
      expect(await get('cookie_data', guest, { dest: 'c' })).toEqual([[5, '.a.com']]);
    }
  });

  it('history and cookie_data are null where there is no database', async () => {
    const broken = new FakeGuest().put(`${PROFILE}/Default/History`, 'x').put(`${PROFILE}/Default/Cookies`, 'x');
    const other = new FakeGuest();
    for (const name of ['History', 'Cookies'])
      other.files.set(`${PROFILE}/Default/${name}`, database('other (a)', [1]));
    for (const guest of [new FakeGuest(), broken, other]) {
      expect(await get('history', guest, { dest: 'h' })).toBeNull();
      expect(await get('cookie_data', guest, { dest: 'c' })).toBeNull();
    }
  });

  it('shortcuts_on_desktop are the launchers on the desktop', async () => {
    const guest = new FakeGuest().put('/home/user/Desktop/a.desktop', 'Name=A\n').put('/home/user/Desktop/b.txt', 'b');
    guest.listDirectory = async (path) => {
      expect(path).toBe('/home/user/Desktop');
      const file = (name: string) => ({ type: 'file' as const, name });
      return { type: 'directory', name: 'Desktop', children: [file('a.desktop'), file('b.txt'), file('gone.desktop')] };
    };
    expect(await get('shortcuts_on_desktop', guest)).toEqual({ 'a.desktop': 'Name=A\n' });
    expect(await get('shortcuts_on_desktop', new FakeGuest())).toEqual({});
  });
});

describe('chrome_color_scheme', () => {
  it.each([
    [{}, 'system'],
    [{ browser: { theme: { color_scheme2: 2, color_scheme: 1 } } }, 'dark'],
    [{ browser: { theme: { color_scheme: 1 } } }, 'light'],
    [{ browser: { theme: { color_scheme2: ' Dark ' } } }, 'dark'],
    [{ browser: { theme: { color_scheme2: '0' } } }, 'system'],
    [{ browser: { theme: { color_scheme2: 2 } }, extensions: { theme: { system_theme: 0 } } }, 'light'],
  ])('%j: %s', async (json, mode) => {
    expect(await get('chrome_color_scheme', profileWith({ 'Default/Preferences': json }))).toBe(mode);
  });

  it('prefers a choice in any profile to none', async () => {
    const guest = profileWith({
      'Default/Preferences': {},
      'Profile 1/Preferences': { browser: { theme: { color_scheme2: 2 } } },
    });
    guest.execute = async () => {
      const paths = ['Default', 'Profile 1'].map((name) => `.config/google-chrome/${name}/Preferences`);
      return { output: `${paths.join('\n')}\n`, error: '', returncode: 0 };
    };
    expect(await get('chrome_color_scheme', guest)).toBe('dark');
    expect(await get('chrome_color_scheme', new FakeGuest())).toBe('system');
  });
});

describe('the embedded browser', () => {
  it('keeps tabs and history in files of its own', async () => {
    const guest = profileWith({
      'Default/Session': { active: 0, tabs: [{ url: 'https://a.test/', title: 'a' }] },
      'Default/History': [{ url: 'https://a.test/', title: 'a' }],
    });
    expect(await get('open_tabs_info', guest)).toEqual([{ url: 'https://a.test/', title: 'a' }]);
    expect(await get('history', guest)).toEqual([['https://a.test/', 'a']]);
  });

  it('has no tabs where it is not open; another browser needs a debugging port', async () => {
    expect(await get('open_tabs_info', new FakeGuest())).toEqual([]);
    await expect(get('open_tabs_info', showing('a.test'))).rejects.toThrow('without a debugging port');
  });
});

/** Bytes of a database with one table of one row; `mode` 2 says that it is in write-ahead mode. */
function database(table: string, row: unknown[], mode = 1): Uint8Array {
  const made = new Database(':memory:');
  made.exec(`CREATE TABLE ${table}`);
  made.prepare(`INSERT INTO ${table.replace(/ .*/, '')} VALUES (${row.map(() => '?').join()})`).run(...row);
  const bytes = made.serialize();
  made.close();
  bytes.fill(mode, 18, 20);
  return bytes;
}
