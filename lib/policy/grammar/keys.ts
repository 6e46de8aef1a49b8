import { isKey, keyName } from '../../guest/keys.ts';
import { GrammarError } from './call.ts';

const MODIFIER_DASH = /^(ctrl|control|alt|option|shift|super|meta|cmd|command|win)-(?=.)/i;
/** Keys whose names are two words: `page down` is one key. */
const TWO_WORDS =
  /\b(?:(?:page|arrow)[ _-](?:up|down)|arrow[ _-](?:left|right)|(?:caps|num|scroll)[ _-]lock|print[ _-]screen)\b/gi;
/** `['ctrl', 'a']`: a list in place of a text. */
const LIST = /^[[(][\s\S]*[\])]$/;

/**
 * `ctrl s`, `Ctrl+S`, `ctrl + s`, `ctrl-s`, `ctrl +` → `['ctrl', 's']` and so on, in pyautogui's names. A lone letter
 * keeps its case; within a combination letters are lower case, since `Ctrl+S` means no Shift.
 * @throws GrammarError where there is no key, or one that no keyboard has.
 */
export function parseKeys(text: string): string[] {
  if (text === ' ') return ['space'];
  const plain = LIST.test(text) ? text.slice(1, -1).replace(/['",]+/g, ' ') : text;
  const words = plain
    .trim()
    .replace(TWO_WORDS, (pair) => pair.replace(/[ _-]/, ''))
    .split(/\s+/);
  const names = words.filter((word, index) => !isJoint(words, word, index)).flatMap(splitChord);
  if (names.length === 0 || names[0] === '') throw new GrammarError('a key is missing');
  const keys = names.length === 1 ? [keyName(names[0]!)] : names.map((name) => keyName(name.toLowerCase()));
  const strange = keys.find((key) => !isKey(key));
  if (strange !== undefined) throw new GrammarError(`there is no key ${JSON.stringify(strange.slice(0, 40))}`);
  return keys;
}

/** The `+` of `ctrl + s`, which is no key; that of `ctrl +` is. */
function isJoint(words: readonly string[], word: string, index: number): boolean {
  return word === '+' && index > 0 && index < words.length - 1;
}

/** `ctrl+shift+=` → its three keys; a plus that nothing follows is the key itself, as in `ctrl++`. */
function splitChord(word: string): string[] {
  const names: string[] = [];
  let rest = word;
  while (rest !== '') {
    const dash = MODIFIER_DASH.exec(rest);
    const end = dash ? dash[1]!.length : rest.indexOf('+', 1);
    if (end < 0) break;
    names.push(rest.slice(0, end));
    rest = rest.slice(end + 1);
  }
  if (rest !== '') names.push(rest);
  return names;
}
