import { DartError } from '../errors.ts';
import type { Action, ExecuteResult, Guest } from './guest.ts';
import { parsePyautogui } from './pyautogui.ts';

/** A script of pyautogui calls as actions, from where the guest's pointer is; a DartError for any other code. */
export async function readScript(guest: Guest, code: string): Promise<Action[] | DartError> {
  const [x, y] = await guest.cursorPosition();
  try {
    return parsePyautogui(code, { x, y });
  } catch (error) {
    if (error instanceof DartError) return error;
    throw error;
  }
}

/** Plays actions one after another until the signal. What the desktop refuses is a result, as a failing program's. */
export async function playScript(guest: Guest, actions: Action[], signal?: AbortSignal): Promise<ExecuteResult> {
  for (const action of actions) {
    if (signal?.aborted) throw new DartError('stopped before all actions were played', { where: guest.id });
    try {
      await guest.act(action);
    } catch (error) {
      if (!(error instanceof DartError)) throw error;
      return { output: '', error: `${error.describe()}\n`, returncode: 1 };
    }
  }
  return { output: '', error: '', returncode: 0 };
}

/** The code of `python -c CODE` where it is about pyautogui; null for any other command. */
export function pythonCode(command: string | string[]): string | null {
  if (typeof command === 'string' || command.length !== 3) return null;
  const [program = '', option, code = ''] = command;
  return /^(?:.*\/)?python3?$/.test(program) && option === '-c' && code.includes('pyautogui') ? code : null;
}

const PASTE = /hotkey\(\s*\[?\s*["']ctrl["']\s*,\s*["']v["']/;

/** Whether playing the calls would leave something out: what is printed, and what is only put on the clipboard. */
export function needsPython(code: string): boolean {
  return /\bprint\s*\(/.test(code) || (/\bpyperclip\.copy\b/.test(code) && !PASTE.test(code));
}
