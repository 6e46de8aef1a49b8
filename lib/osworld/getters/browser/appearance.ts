import type { Page } from 'playwright-core';
import { GETTER_TRIES, pause, usersContext, withBrowser } from '../../browser/connection.ts';
import { asObject, type Json, jsonObject } from '../../browser/profile.ts';
import type { TaskContext } from '../../context.ts';
import type { Getter } from '../../kinds.ts';

export type Mode = 'light' | 'dark' | 'system';

const PAGE_LIMIT_MS = 30_000;
const SETTINGS_LIMIT_MS = 10_000;
const HAS_SETTINGS = 'document.querySelector("settings-ui")?.prefs !== undefined';
/** OSWorld waits so long until the settings page shows what is set, ms. */
const DRAWING_MS = 2_500;
/** The browser writes its preferences some time after a change: OSWorld reads them so often. */
const READS = 5;
const READ_PAUSE_MS = 1_000;

const BY_NUMBER: Mode[] = ['system', 'light', 'dark'];
const BY_NAME: Record<string, Mode> = {
  system: 'system',
  default: 'system',
  device: 'system',
  light: 'light',
  dark: 'dark',
};

/** The profiles' preferences, newest first, as far as a shell can tell. */
const LIST =
  'cd; for folder in .config/google-chrome .config/chromium snap/chromium/common/chromium; do ' +
  'ls -t "$folder"/Default/Preferences "$folder"/"Guest Profile"/Preferences "$folder"/Profile\\ */Preferences; ' +
  'done 2>/dev/null';

/** "light", "dark" or "system", from the preferences of the profile that was written last. */
const colorScheme: Getter = async (_config, context) => {
  let final: Mode = 'system';
  for (let read = 0; read < READS; read += 1) {
    if (read > 0) await pause(READ_PAUSE_MS, context);
    const modes = (await preferences(context)).map(modeOf);
    const mode = modes.find((each) => each !== 'system') ?? modes[0];
    if (mode === 'light') return mode;
    final = mode ?? final;
    if (context.protocol.sleepScale === 0) break;
  }
  return final;
};

async function preferences(context: TaskContext): Promise<Json[]> {
  const { guest } = context;
  const home = (await guest.desktopPath()).replace(/\/[^/]*$/, '');
  const listed = (await guest.execute(LIST, { shell: true })).output.split('\n').filter((line) => line !== '');
  const paths = listed.length > 0 ? listed : ['.config/google-chrome/Default/Preferences'];
  const files = await Promise.all(paths.map((path) => guest.readFile(`${home}/${path}`)));
  return files.flatMap((bytes) => (bytes === null ? [] : [jsonObject(bytes)])).filter((data) => data !== null);
}

/** A theme of the system that was turned off counts as light, whatever the colour scheme says. */
function modeOf(data: Json): Mode {
  const theme = asObject(asObject(data.browser).theme);
  const system = asObject(asObject(data.extensions).theme).system_theme;
  if (system === 0 || system === '0' || system === false) return 'light';
  return modeOfValue('color_scheme2' in theme ? theme.color_scheme2 : theme.color_scheme) ?? 'system';
}

/** A number or a name as preferences and the settings page write it. */
function modeOfValue(value: unknown): Mode | undefined {
  if (typeof value === 'number') return BY_NUMBER[Math.trunc(value)];
  if (typeof value !== 'string') return undefined;
  const name = value.trim().toLowerCase();
  return BY_NAME[name] ?? (/^[012]$/.test(name) ? BY_NUMBER[Number(name)] : undefined);
}

/**
 * As `chrome_color_scheme`, but from the browser's settings page. OSWorld leaves that page open in front, where a
 * metric on the active tab finds it; and a theme that is not the system's counts as light there too, even with a dark
 * colour scheme. `strict` closes the page and goes by the choice that it shows (docs/osworld.md).
 */
const appearance: Getter = async (config, context) => {
  const isStrict = context.protocol.fidelity === 'strict';
  let shown: Mode | null = null;
  try {
    shown = await withBrowser(context, config.owner, { ...GETTER_TRIES, relaunch: false }, async (browser) => {
      const page = await usersContext(browser).newPage();
      try {
        await page.goto('chrome://settings/appearance', { waitUntil: 'domcontentloaded', timeout: PAGE_LIMIT_MS });
        await page.waitForFunction(HAS_SETTINGS, undefined, { timeout: SETTINGS_LIMIT_MS }).catch(() => {});
        await pause(DRAWING_MS, context);
        return await modeShown(page, isStrict);
      } finally {
        if (isStrict) await page.close().catch(() => {});
      }
    });
  } catch {
    context.signal?.throwIfAborted();
    // What the page does not tell is in the preferences.
  }
  return shown ?? colorScheme(config, context);
};

const SCHEMES = ['browser.theme.color_scheme2', 'browser.theme.color_scheme'];
const SYSTEM_THEME = 'extensions.theme.system_theme';
const CHOSEN = '[selected], [checked], [aria-checked="true"], option:checked';

/** What the page's own model of the settings says, or the choice that its lists and buttons show; light goes first. */
async function modeShown(page: Page, isStrict: boolean): Promise<Mode | null> {
  const values = await settings(page, [...SCHEMES, SYSTEM_THEME]);
  const system = values[SYSTEM_THEME];
  const schemes = SCHEMES.map((name) => modeOfValue(values[name]));
  const texts = await page.locator(CHOSEN).evaluateAll((elements) =>
    // biome-ignore lint/performance/useDomNodeTextContent: what is drawn is what counts.
    elements.map((e) => ('innerText' in e && e.innerText) || e.textContent),
  );
  if (isStrict) return [...schemes, ...texts.map(modeOfValue)].find((mode) => mode !== undefined) ?? null;
  const modes = [
    ...schemes,
    ...(system === undefined ? [] : [system === 0 || system === '0' || system === false ? 'light' : 'dark']),
    ...texts.map((text) => modeInText(String(text))),
  ];
  for (const mode of ['light', 'dark', 'system'] as const) if (modes.includes(mode)) return mode;
  return null;
}

/** Settings by their dotted names, as far as the page has them. */
async function settings(page: Page, names: string[]): Promise<Json> {
  const model = page.locator('settings-ui');
  if ((await model.count()) === 0) return {};
  return model.evaluate((element, wanted) => {
    const found: Record<string, unknown> = {};
    for (const name of wanted) {
      let node = (element as unknown as { prefs?: unknown }).prefs;
      for (const key of name.split('.')) node = (node as Record<string, unknown> | undefined)?.[key];
      const value = (node as { value?: unknown } | undefined)?.value;
      if (value !== undefined) found[name] = value;
    }
    return found;
  }, names);
}

function modeInText(text: string): Mode | undefined {
  if (/light/i.test(text)) return 'light';
  if (/dark/i.test(text)) return 'dark';
  return /device|system|default/i.test(text) ? 'system' : undefined;
}

export const appearanceGetters: Record<string, Getter> = {
  chrome_color_scheme: colorScheme,
  chrome_appearance_mode_ui: appearance,
};
