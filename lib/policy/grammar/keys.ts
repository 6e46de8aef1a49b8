import { keyName } from '../../guest/keys.ts';
import { GrammarError } from './call.ts';

const MODIFIER_DASH = /^(ctrl|control|alt|option|shift|super|meta|cmd|command|win)-(?=.)/i;

/**
 * `ctrl s`, `Ctrl+S`, `ctrl-s`, `ctrl +` → `['ctrl', 's']` and so on, in pyautogui's names. A lone letter keeps its
 * case; within a combination letters are lower case, since `Ctrl+S` means no Shift.
 */
export function parseKeys(text: string): string[] {
  if (text === ' ') return ['space'];
  const names = text.trim().split(/\s+/).flatMap(splitChord);
  if (names.length === 0 || names[0] === '') throw new GrammarError('a key is missing');
  return names.length === 1 ? [keyName(names[0]!)] : names.map((name) => keyName(name.toLowerCase()));
}

function splitChord(word: string): string[] {
  const dashed = MODIFIER_DASH.exec(word);
  if (dashed) return [dashed[1]!, ...splitChord(word.slice(dashed[0].length))];
  const plus = word.indexOf('+', 1);
  if (plus < 0) return [word];
  const rest = word.slice(plus + 1);
  return rest === '' ? [word.slice(0, plus)] : [word.slice(0, plus), ...splitChord(rest)];
}
