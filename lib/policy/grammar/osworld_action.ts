import { DartError } from '../../errors.ts';
import type { Action } from '../../guest/guest.ts';
import { parsePyautogui } from '../../guest/pyautogui.ts';
import { GrammarError } from './call.ts';
import { parseComputer13 } from './computer13.ts';
import type { Point } from './coordinates.ts';

export interface ParsedAction {
  /** In screen pixels; empty when `parseError` is set, so that half an action is never taken for a whole one. */
  actions: Action[];
  parseError: string | null;
}

/** OSWorld's words for what needs no pyautogui; some agents add a note in brackets. */
const WORD = /^(WAIT|DONE|FAIL)(?:\s*\([^()]*\))?$/;
const MEANING = { WAIT: 'wait', DONE: 'finished', FAIL: 'fail' } as const;
/** A text that stands for itself, as agents write their thoughts above the calls. */
const DOCSTRING = /(^|\n|;)[ \t]*(?:'''[\s\S]*?'''|"""[\s\S]*?""")[ \t]*(?=\n|;|$)/g;

/**
 * An `action` as OSWorld's runner records it (reference/osworld.md §5): pyautogui code, one of the words WAIT, DONE and
 * FAIL, a `computer_13` object, an object with the code under `command`, or a list of those. Never throws, never
 * evaluates.
 * @param pointer Where the mouse is; calls without coordinates act there, and it is moved along.
 */
export function parseOsworldAction(action: unknown, pointer: Point = { x: 0, y: 0 }): ParsedAction {
  try {
    return { actions: read(action, pointer), parseError: null };
  } catch (error) {
    if (error instanceof GrammarError) return { actions: [], parseError: error.message };
    if (error instanceof DartError) return { actions: [], parseError: `${error.message} (${error.where})` };
    throw error;
  }
}

function read(action: unknown, pointer: Point): Action[] {
  if (Array.isArray(action)) return action.flatMap((part) => read(part, pointer));
  if (typeof action === 'string') return readText(action, pointer);
  if (typeof action !== 'object' || action === null) throw new GrammarError('there is no action');
  const { action_type: kind, command } = action as Record<string, unknown>;
  if (typeof command === 'string') return readText(command, pointer);
  if (typeof kind === 'string') return parseComputer13(action as Record<string, unknown>, pointer);
  throw new GrammarError('an action is code, a word or an object with action_type');
}

function readText(text: string, pointer: Point): Action[] {
  const word = WORD.exec(text.trim());
  if (word) return [{ type: MEANING[word[1] as keyof typeof MEANING] }];
  const actions = parsePyautogui(text.replace(DOCSTRING, '$1'), pointer);
  if (actions.length === 0) throw new GrammarError('there is no action');
  return actions;
}
