import type { Action } from '../../guest/guest.ts';
import { MAX_ACTIONS } from '../../guest/pyautogui.ts';
import { GrammarError, readCalls } from './call.ts';
import { type ScreenConvention, toScreen } from './coordinates.ts';
import { isCode, parseOsworldAction } from './osworld_action.ts';
import { sound } from './playable.ts';
import { actionsOf } from './verbs.ts';

export interface ParsedReply {
  /** What stands before the action, without the word "Thought:"; null when there is none. */
  thought: string | null;
  /** All actions in order; empty when `parseError` is set, so that half a reply is never played. */
  actions: Action[];
  parseError: string | null;
}

const MARK = /\bAction\s*[:：](?:\*\*)?/gi;
/** A reply with more marks than this is garbage; only its last ones are looked at. */
const MAX_MARKS = 16;

const NO_ACTION = 'there is no action';
/** One word, maybe with the brackets that make it a call. */
const BEGINS_AS_CALL = /^\s*(?:[A-Za-z_]\w*\s*(?:\(|$)|<\||#)/;

/**
 * A reply, `Thought: … Action: …`, → actions in screen pixels (reference/dart-and-arpo.md §1.5). The action part follows
 * the last "Action:", except one that stands inside a quoted text; it is UI-TARS's calls, or what OSWorld's agents write
 * (`parseOsworldAction`, always in pixels of the screen). Never throws, never evaluates.
 */
export function parseReply(text: string, convention: ScreenConvention): ParsedReply {
  const marks = [...text.matchAll(MARK)].slice(-MAX_MARKS);
  const starts = marks.map((mark) => ({ from: mark.index, to: mark.index + mark[0].length }));
  if (starts.length === 0) starts.push({ from: thoughtEnd(text), to: 0 });
  if (marks.length === 0 && isProse(text)) return { thought: thoughtOf(text), actions: [], parseError: NO_ACTION };
  let error = NO_ACTION;
  // The first mark from which everything reads as actions: any later mark is then inside one of their strings.
  for (const { from, to } of starts) {
    const { actions, parseError } = readActions(text.slice(to), convention);
    if (parseError === null) return { thought: thoughtOf(text.slice(0, from)), actions, parseError };
    error = parseError;
  }
  const thought = thoughtOf(marks.length === 0 ? text : text.slice(0, starts.at(-1)!.from));
  return { thought, actions: [], parseError: error };
}

/** Words of which nothing looks like an action: what is missing then is all of it, not a bracket behind its first word. */
function isProse(text: string): boolean {
  return !BEGINS_AS_CALL.test(text) && !isCode(text);
}

type Read = Pick<ParsedReply, 'actions' | 'parseError'>;

function readActions(text: string, convention: ScreenConvention): Read {
  try {
    const actions = actionsOf(readCalls(text), convention);
    if (actions.length > MAX_ACTIONS) throw new GrammarError(`there are more than ${MAX_ACTIONS} actions`);
    return { actions: sound(actions), parseError: null };
  } catch (failure) {
    if (!(failure instanceof GrammarError)) throw failure;
    return isCode(text) ? readCode(text, convention) : { actions: [], parseError: failure.message };
  }
}

function readCode(text: string, convention: ScreenConvention): Read {
  const pointer = convention.pointer ?? { x: Number.NaN, y: Number.NaN };
  const { actions, parseError } = parseOsworldAction(text, pointer);
  return { actions: actions.map((action) => onScreen(action, convention)), parseError };
}

/** Code is in pixels of the screen already; what points beyond it stops at the edge. */
function onScreen(action: Action, { screen }: ScreenConvention): Action {
  const placed = { ...action };
  if ('x' in placed && typeof placed.x === 'number' && typeof placed.y === 'number') {
    Object.assign(placed, toScreen({ x: placed.x, y: placed.y }, { screen, coordinates: 'absolute' }));
  }
  if (placed.type === 'drag') {
    const to = toScreen({ x: placed.to_x, y: placed.to_y }, { screen, coordinates: 'absolute' });
    Object.assign(placed, { to_x: to.x, to_y: to.y });
  }
  return placed;
}

/** Where the thought of a reply without "Action:" ends: at its first code fence. */
function thoughtEnd(text: string): number {
  return Math.max(0, text.indexOf('```'));
}

function thoughtOf(text: string): string | null {
  const thought = text.replace(/^\s*Thought\s*[:：]/, '').trim();
  return thought === '' ? null : thought;
}
