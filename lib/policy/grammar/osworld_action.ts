import { DartError } from '../../errors.ts';
import type { Action } from '../../guest/guest.ts';
import { MAX_ACTIONS, parsePyautogui } from '../../guest/pyautogui.ts';
import { parseLiteral } from '../../guest/python_literals.ts';
import { clipped, GrammarError } from './call.ts';
import { parseComputer13 } from './computer13.ts';
import type { Point } from './coordinates.ts';
import { sound } from './playable.ts';

export interface ParsedAction {
  /** In screen pixels; empty when `parseError` is set, so that half an action is never taken for a whole one. */
  actions: Action[];
  parseError: string | null;
}

/** OSWorld's words for what needs no pyautogui; some agents add a note in brackets. */
const WORD = /^(WAIT|DONE|FAIL)(?:\s*\([^()]*\))?$/;
const MEANING = { WAIT: 'wait', DONE: 'finished', FAIL: 'fail' } as const;
const STATEMENTS = /^\s*(?:(?:import|from)\s|(?:pyautogui|time|pyperclip)\.)/;
const LITERAL = /^\s*(?:\{|\[\s*[{"'])/;
const LANGUAGE = /^(?:python3?|py|json|text|plaintext|code)\s/i;
const FENCE = '```';
const MAX_DEPTH = 32;
/** As much of the code as a message shows. */
const MAX_SHOWN = 80;

/**
 * An `action` as OSWorld's runner records it and its agents write it (reference/osworld.md §5): pyautogui code, one of
 * the words WAIT, DONE and FAIL, a `computer_13` object (as JSON, as a Python dictionary, or read already), any of those
 * in code fences, an object with the code under `command`, or a list of those. Never throws, never evaluates.
 * @param pointer Where the mouse is; calls without coordinates act there, and it is moved along.
 */
export function parseOsworldAction(action: unknown, pointer: Point = { x: 0, y: 0 }): ParsedAction {
  const moved = { ...pointer };
  try {
    const actions = sound(read(action, moved, 0));
    if (actions.length === 0) throw new GrammarError('there is no action');
    if (actions.length > MAX_ACTIONS) throw new GrammarError(`there are more than ${MAX_ACTIONS} actions`);
    Object.assign(pointer, moved);
    return { actions, parseError: null };
  } catch (error) {
    if (error instanceof GrammarError) return { actions: [], parseError: error.message };
    if (error instanceof DartError)
      return { actions: [], parseError: `${clipped(error.message)} (${clipped(error.where ?? '', MAX_SHOWN)})` };
    throw error;
  }
}

/** Whether a text looks like what OSWorld's agents write, rather than like UI-TARS's calls. */
export function isCode(text: string): boolean {
  return STATEMENTS.test(text) || LITERAL.test(text) || text.includes(FENCE) || WORD.test(text.trim());
}

function read(action: unknown, pointer: Point, depth: number): Action[] {
  if (depth > MAX_DEPTH) throw new GrammarError('too many lists inside each other');
  if (Array.isArray(action)) return action.flatMap((part) => read(part, pointer, depth + 1));
  if (typeof action === 'string') return readText(action, pointer, depth);
  if (typeof action !== 'object' || action === null) throw new GrammarError('there is no action');
  const { action_type: kind, command } = action as Record<string, unknown>;
  if (typeof command === 'string') return readText(command, pointer, depth);
  if (typeof kind === 'string') return parseComputer13(action as Record<string, unknown>, pointer);
  throw new GrammarError('an action is code, a word or an object with action_type');
}

function readText(text: string, pointer: Point, depth: number): Action[] {
  const word = WORD.exec(text.trim());
  if (word) return [{ type: MEANING[word[1] as keyof typeof MEANING] }];
  if (LITERAL.test(text)) return read(parseLiteral(text), pointer, depth + 1);
  if (STATEMENTS.test(text) || !text.includes(FENCE)) return parsePyautogui(text, pointer, { words: true });
  return fenced(text).flatMap((block) => readText(block, pointer, depth));
}

/** What stands between code fences; around them agents write their thoughts. */
function fenced(text: string): string[] {
  const parts = text.split(FENCE);
  if (parts.length % 2 === 0) throw new GrammarError('a code fence is not closed');
  const blocks = parts.filter((_, index) => index % 2 === 1).map((block) => block.replace(LANGUAGE, '').trim());
  return blocks.filter((block) => block !== '');
}
