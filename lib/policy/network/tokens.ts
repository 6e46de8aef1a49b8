/**
 * The reply vocabulary. One token says a whole action without a place (`hotkey(key='ctrl s')`, `wait()`), or the verb of
 * one with places (`click`), a character, the end of typed text, or a cell of the screen.
 *
 *     click <cell>   drag <cell> <cell>   scroll_down <cell>   type h e l l o END   type l s NEWLINE   hotkey ctrl s
 *
 * A reply ends by itself where the grammar lets nothing follow, so that no token is spent on saying so: END and NEWLINE
 * end typed text, a cell ends click and scroll.
 */
export const PLACED_VERBS = ['click', 'left_double', 'right_single', 'scroll_up', 'scroll_down', 'drag'] as const;
export const PLAIN_VERBS = ['wait', 'finished', 'fail'] as const;
export const HOTKEYS = [
  'enter',
  'esc',
  'tab',
  'backspace',
  'delete',
  'up',
  'down',
  'left',
  'right',
  'space',
  'home',
  'end',
  'pageup',
  'pagedown',
  'f2',
  'f5',
  'ctrl a',
  'ctrl b',
  'ctrl c',
  'ctrl d',
  'ctrl f',
  'ctrl i',
  'ctrl l',
  'ctrl n',
  'ctrl o',
  'ctrl p',
  'ctrl s',
  'ctrl t',
  'ctrl u',
  'ctrl v',
  'ctrl w',
  'ctrl x',
  'ctrl y',
  'ctrl z',
  'ctrl e',
  'ctrl h',
  'ctrl m',
  'ctrl q',
  'ctrl r',
  'ctrl enter',
  'ctrl tab',
  'ctrl home',
  'ctrl end',
  'ctrl up',
  'ctrl down',
  'ctrl shift e',
  'ctrl shift n',
  'ctrl shift s',
  'ctrl shift t',
  'ctrl shift delete',
  'shift delete',
  'shift space',
  'alt up',
  'alt left',
  'alt f4',
  'alt tab',
] as const;
/** A line break among them stands inside a text; at its end NEWLINE says it, which also ends the text. */
export const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789 .,-_=+:/@()*\n';

export type PlacedVerb = (typeof PLACED_VERBS)[number];
export type PlainVerb = (typeof PLAIN_VERBS)[number];

const firstPlain = PLACED_VERBS.length;
const firstHotkey = firstPlain + PLAIN_VERBS.length;

/** Ids by kind, in this order: placed verbs, plain verbs, hotkeys, `type`, characters, NEWLINE, END, cells. */
export const TOKEN = {
  firstPlain,
  firstHotkey,
  type: firstHotkey + HOTKEYS.length,
  firstCharacter: firstHotkey + HOTKEYS.length + 1,
  newline: firstHotkey + HOTKEYS.length + 1 + CHARACTERS.length,
  end: firstHotkey + HOTKEYS.length + 2 + CHARACTERS.length,
  firstCell: firstHotkey + HOTKEYS.length + 3 + CHARACTERS.length,
  drag: PLACED_VERBS.indexOf('drag'),
} as const;

/** Tokens that are not cells. */
export const WORD_TOKENS = TOKEN.firstCell;

/** Width of a row of logits. */
export function vocabularySize(cells: number): number {
  return WORD_TOKENS + cells;
}

/** Beginning of a reply: only ever an input. */
export function bosToken(cells: number): number {
  return vocabularySize(cells);
}

/** Nothing there, in the history: only ever an input. */
export function noneToken(cells: number): number {
  return vocabularySize(cells) + 1;
}
