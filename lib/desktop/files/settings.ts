import { HOME, type Vfs } from './vfs.ts';

/** Where system settings are kept, in the form that `dconf dump /` prints. */
export const SETTINGS_FILE = `${HOME}/.config/dconf/user.ini`;
export const MIME_FILE = `${HOME}/.config/mimeapps.list`;

type Sections = Map<string, Map<string, string>>;

let parsedText = '';
let parsed: Sections = new Map();

/** Sections of a key file; the newest one is kept, since views ask for the same file again and again. */
function sectionsOf(text: string): Sections {
  if (text === parsedText) return parsed;
  const sections: Sections = new Map();
  let current = new Map<string, string>();
  for (const line of text.split('\n')) {
    const header = /^\[(.*)\]$/.exec(line.trim());
    if (header) {
      current = new Map();
      sections.set(header[1] ?? '', current);
      continue;
    }
    const at = line.indexOf('=');
    if (at > 0) current.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
  }
  parsedText = text;
  parsed = sections;
  return sections;
}

/** Value of a setting as it is written (`true`, `'none'`); null when it has its default. */
export function readSetting(vfs: Vfs, schema: string, key: string): string | null {
  const text = vfs.readText(SETTINGS_FILE);
  if (text === null) return null;
  return sectionsOf(text).get(schema.replaceAll('.', '/'))?.get(key) ?? null;
}

/** Writes one setting; null removes it (back to the default). */
export function writeSetting(vfs: Vfs, schema: string, key: string, value: string | null): void {
  const sections: Sections = new Map(sectionsOf(vfs.readText(SETTINGS_FILE) ?? ''));
  const path = schema.replaceAll('.', '/');
  const section = new Map(sections.get(path));
  if (value === null) section.delete(key);
  else section.set(key, value);
  if (section.size === 0) sections.delete(path);
  else sections.set(path, section);
  vfs.write(SETTINGS_FILE, printSections(sections));
}

function printSections(sections: Sections): string {
  return [...sections]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, values]) => {
      const lines = [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => `${key}=${value}\n`);
      return `[${path}]\n${lines.join('')}\n`;
    })
    .join('');
}

/** Default application of a MIME type, without `.desktop`; null when none is set. */
export function defaultApplication(vfs: Vfs, type: string): string | null {
  const text = vfs.readText(MIME_FILE);
  if (text === null) return null;
  const line = text.split('\n').find((l) => l.startsWith(`${type}=`));
  return line ? (line.slice(type.length + 1).split('.desktop')[0] ?? null) : null;
}
