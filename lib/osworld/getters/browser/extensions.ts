import { asObject, type Json, profileJson } from '../../browser/profile.ts';
import type { TaskContext } from '../../context.ts';
import type { Getter } from '../../kinds.ts';

/** What OSWorld gives for a profile that it cannot read: a text, in which no list of names is found. */
const UNREADABLE = 'Google';

/** Newer browsers keep their extensions in the second, out of the sight of OSWorld's getter. */
const FILES = ['Default/Preferences', 'Default/Secure Preferences'];

async function extensions(context: TaskContext): Promise<Json[] | null> {
  for (const name of FILES) {
    const settings = asObject((await profileJson(name, context))?.extensions).settings;
    if (settings !== undefined) return Object.values(asObject(settings)).map(asObject);
  }
  return (await profileJson(FILES[0]!, context)) === null ? null : [];
}

/**
 * One text of each extension. OSWorld gives up at the first extension without it, such as the browser's own, whose
 * manifests are not in the profile; `strict` leaves it out.
 */
function eachExtension(read: (extension: Json) => unknown): Getter {
  return async (_config, context) => {
    const found = await extensions(context);
    if (found === null) return UNREADABLE;
    const texts = found.map(read);
    const known = texts.filter((text) => text !== undefined);
    return context.protocol.fidelity !== 'strict' && known.length < texts.length ? UNREADABLE : known;
  };
}

export const extensionGetters: Record<string, Getter> = {
  find_unpacked_extension_path: eachExtension((extension) => extension.path),
  find_installed_extension_name: eachExtension((extension) => asObject(extension.manifest).name),
};
