import type { Action } from '../../guest/guest.ts';
import { GrammarError, readCalls } from './call.ts';
import { type ScreenConvention, toAction } from './verbs.ts';

export interface ParsedReply {
  /** What stands before the action, without the word "Thought:"; null when there is none. */
  thought: string | null;
  /** All actions in order; empty when `parseError` is set, so that half a reply is never played. */
  actions: Action[];
  parseError: string | null;
}

const MARK = /Action\s*[:：]/g;
/** A reply with more marks than this is garbage; only its last ones are looked at. */
const MAX_MARKS = 16;

/**
 * A UI-TARS reply, `Thought: … Action: …`, → actions in screen pixels (reference/dart-and-arpo.md §1.5). The action
 * part follows the last "Action:", except one that stands inside a quoted text. Never throws, never evaluates.
 */
export function parseReply(text: string, convention: ScreenConvention): ParsedReply {
  const marks = [...text.matchAll(MARK)].slice(-MAX_MARKS);
  const starts =
    marks.length === 0 ? [{ from: 0, to: 0 }] : marks.map((m) => ({ from: m.index, to: m.index + m[0].length }));
  let error = 'there is no action';
  // The first mark from which everything reads as calls: any later mark is then inside one of their strings.
  for (const { from, to } of starts) {
    try {
      const actions = readCalls(text.slice(to)).map((call) => toAction(call, convention));
      return { thought: thoughtOf(text.slice(0, from)), actions, parseError: null };
    } catch (failure) {
      if (!(failure instanceof GrammarError)) throw failure;
      error = failure.message;
    }
  }
  const thought = thoughtOf(marks.length === 0 ? text : text.slice(0, starts.at(-1)!.from));
  return { thought, actions: [], parseError: error };
}

function thoughtOf(text: string): string | null {
  const thought = text.replace(/^\s*Thought\s*[:：]/, '').trim();
  return thought === '' ? null : thought;
}
