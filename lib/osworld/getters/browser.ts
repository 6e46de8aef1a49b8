import type { Getter } from '../kinds.ts';
import { addressGetters } from './browser/addresses.ts';
import { appearanceGetters } from './browser/appearance.ts';
import { extensionGetters } from './browser/extensions.ts';
import { htmlGetters } from './browser/html.ts';
import { pageGetters } from './browser/pages.ts';
import { preferenceGetters } from './browser/preferences.ts';
import { recordGetters } from './browser/records.ts';
import { recreationGetters } from './browser/recreation.ts';
import { tabGetters } from './browser/tabs.ts';
import { websiteGetters } from './browser/website.ts';

/** What OSWorld reads of the browser: its profile, its address bar, and by its debugging port tabs and pages. */
export const browserGetters: Record<string, Getter> = {
  ...preferenceGetters,
  ...extensionGetters,
  ...recordGetters,
  ...addressGetters,
  ...tabGetters,
  ...pageGetters,
  ...htmlGetters,
  ...appearanceGetters,
  ...websiteGetters,
  ...recreationGetters,
};
