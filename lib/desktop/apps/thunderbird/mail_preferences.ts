import { HOME } from '../../files/vfs.ts';
import type { System } from '../app.ts';

const FILE = `${HOME}/.thunderbird/profile.default/prefs.js`;

interface Preference {
  name: string;
  key: string;
  /** Value as it stands in prefs.js. */
  on: string;
  off: string;
}

const PREFERENCES: readonly Preference[] = [
  { name: 'Plain Text', key: 'mail.identity.id1.compose_html', on: 'false', off: 'true' },
  { name: 'Receipts', key: 'mail.receipt.request_return_receipt_on', on: 'true', off: 'false' },
  { name: 'Spelling', key: 'mail.SpellCheckBeforeSend', on: 'true', off: 'false' },
  {
    name: 'Dark Theme',
    key: 'extensions.activeThemeID',
    on: '"thunderbird-compact-dark@mozilla.org"',
    off: '"default-theme@mozilla.org"',
  },
  { name: 'Quote Above', key: 'mail.identity.id1.reply_on_top', on: '1', off: '0' },
];

/** The mail program's settings, kept as `user_pref` lines; lines of other keys stay as they are. */
export function askMailPreferences(system: System): void {
  const lines = (system.vfs.readText(FILE) ?? '').split('\n').filter((line) => line !== '');
  const checks = PREFERENCES.map((preference) => ({
    kind: 'check' as const,
    name: preference.name,
    preference,
    on: lines.includes(`user_pref("${preference.key}", ${preference.on});`),
  }));
  const run = () => {
    const others = lines.filter((line) => !PREFERENCES.some(({ key }) => line.startsWith(`user_pref("${key}",`)));
    const own = checks.map(({ preference: p, on }) => `user_pref("${p.key}", ${on ? p.on : p.off});`);
    system.vfs.write(FILE, `${[...others, ...own].join('\n')}\n`);
  };
  const rows = system.order('mail preferences', checks, (c) => c.name);
  system.showDialog({ title: 'Preferences', rows, buttons: [{ name: 'OK', run }, { name: 'Cancel' }] });
}
