import { keyName } from '../../guest/keys.ts';

const MODIFIERS = ['ctrl', 'alt', 'shift', 'win'];

/** True for a key that only changes what others do, by its one name. */
export function isModifier(key: string): boolean {
  return MODIFIERS.includes(key);
}

/**
 * Keys pressed together as combinations: modifiers in a fixed order before each other key (`ctrl+shift+t`). Letters are
 * lower case once a modifier is there, so that `ctrl S` is `ctrl s`.
 */
export function combosOf(keys: string[], held: ReadonlySet<string>): string[] {
  const names = keys.map(keyName);
  const modifiers = MODIFIERS.filter((m) => held.has(m) || names.includes(m));
  return names
    .filter((name) => !isModifier(name))
    .map((name) => (modifiers.length > 0 ? [...modifiers, name.toLowerCase()].join('+') : name));
}

/** Characters of a US keyboard without and with shift. */
const PLAIN = "`1234567890-=[]\\;',./";
const SHIFTED = '~!@#$%^&*()_+{}|:"<>?';

function shifted(char: string): string {
  const at = PLAIN.indexOf(char);
  return at < 0 ? char.toUpperCase() : (SHIFTED[at] ?? char);
}

/** The character that a combination types; null when it types none. */
export function characterOf(combo: string): string | null {
  if (combo === 'space' || combo === 'shift+space') return ' ';
  if (combo.length === 1) return combo;
  if (combo.startsWith('shift+') && combo.length === 7) return shifted(combo.slice(6));
  return null;
}
