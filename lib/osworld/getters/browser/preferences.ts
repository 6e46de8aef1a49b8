import { asObject, type Json, profileJson } from '../../browser/profile.ts';
import type { Getter } from '../../kinds.ts';

const PREFERENCES = 'Default/Preferences';
/** What some of OSWorld's getters give for a profile that they cannot read; no task expects it. */
const UNREADABLE = 'Google';

/** A getter of something in a JSON file of the profile; `unreadable` where the file is missing or broken. */
function inFile(name: string, read: (data: Json) => unknown, unreadable: unknown): Getter {
  return async (_config, context) => {
    const data = await profileJson(name, context);
    return data === null ? unreadable : read(data);
  };
}

/** OSWorld's flags are the strings "true" and "false". */
function flag(read: (data: Json) => unknown, unreadable: string): Getter {
  return inFile(PREFERENCES, (data) => (read(data) ? 'true' : 'false'), unreadable);
}

const safeBrowsing = flag((data) => {
  const settings = asObject(data.safebrowsing);
  return settings.enhanced || settings.enabled;
}, 'false');

const enhancedSafeBrowsing = flag((data) => asObject(data.safebrowsing).enhanced, UNREADABLE);

/** A profile without `session` has never been changed: it starts with the new tab page, which is code 5. */
const newStartupPage = flag(
  (data) => !('session' in data) || asObject(data.session).restore_on_startup === 5,
  UNREADABLE,
);

const deletesData = inFile(
  PREFERENCES,
  ({ profile }) => {
    if (profile === undefined) return UNREADABLE;
    return asObject(profile).default_content_setting_values == null ? 'false' : 'true';
  },
  UNREADABLE,
);

function searchEngineOf(data: Json): unknown {
  const template = asObject(asObject(data.default_search_provider_data).template_url_data);
  return template.short_name ?? 'Google';
}

const FONT_DEFAULTS = { default_fixed_font_size: 13, default_font_size: 16, minimum_font_size: 13 };

/** `webkit.webprefs`, or the browser's own sizes. */
const fontSize = inFile(PREFERENCES, (data) => asObject(data.webkit).webprefs ?? FONT_DEFAULTS, {
  default_fixed_font_size: 13,
  default_font_size: 16,
});

const LOCAL_STATE = 'Local State';

/** Names of the experiments of `chrome://flags` that are on, as `name@choice`. */
const experiments = inFile(LOCAL_STATE, (data) => asObject(data.browser).enabled_labs_experiments ?? [], []);

const language = inFile(LOCAL_STATE, (data) => asObject(data.intl).app_locale ?? 'en-US', 'en-US');

export const preferenceGetters: Record<string, Getter> = {
  enable_do_not_track: flag((data) => data.enable_do_not_track, 'false'),
  enable_safe_browsing: safeBrowsing,
  enable_enhanced_safety_browsing: enhancedSafeBrowsing,
  new_startup_page: newStartupPage,
  data_delete_automacally: deletesData,
  profile_name: inFile(PREFERENCES, (data) => asObject(data.profile).name ?? null, null),
  default_search_engine: inFile(PREFERENCES, searchEngineOf, 'Google'),
  chrome_font_size: fontSize,
  enabled_experiments: experiments,
  chrome_language: language,
};
