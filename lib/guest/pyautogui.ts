import { DartError } from '../errors.ts';
import { type Action, WHEEL_CLICKS } from './guest.ts';
import { keyName } from './keys.ts';
import { type PythonCall, type PythonValue, parseCalls } from './python_calls.ts';

/** What OSWorld's controller puts before each action (reference/osworld.md §1, client policy). */
export const PYAUTOGUI_PREFIX = 'import pyautogui; import time; pyautogui.FAILSAFE = False; ';

/**
 * An action as pyautogui statements, for guests behind HTTP. Empty for `finished`, `fail` and `wait`, which do nothing
 * on the desktop. Text that pyautogui cannot type (characters beyond ASCII) goes through the clipboard, and `<` by its
 * keys, because pyautogui types `>` for it (reference/osworld.md §7.1).
 */
export function toPyautogui(action: Action): string {
  switch (action.type) {
    case 'click':
    case 'double_click':
    case 'triple_click':
    case 'right_click':
    case 'middle_click':
    case 'move':
      return `pyautogui.${POINTER_CALLS[action.type]}(${action.x}, ${action.y})`;
    case 'mouse_down':
      return `pyautogui.mouseDown(button=${literal(action.button)})`;
    case 'mouse_up':
      return `pyautogui.mouseUp(button=${literal(action.button)})`;
    case 'drag':
      return `pyautogui.moveTo(${action.x}, ${action.y}); pyautogui.dragTo(${action.to_x}, ${action.to_y}, duration=0.5, button="left")`;
    case 'scroll':
      return scrollCall(action);
    case 'type':
      return typeCalls(action.text);
    case 'hotkey': {
      const keys = action.keys.map((key) => literal(keyName(key)));
      return keys.length === 1 ? `pyautogui.press(${keys[0]})` : `pyautogui.hotkey(${keys.join(', ')})`;
    }
    case 'key_down':
      return `pyautogui.keyDown(${literal(keyName(action.key))})`;
    case 'key_up':
      return `pyautogui.keyUp(${literal(keyName(action.key))})`;
    case 'wait':
    case 'finished':
    case 'fail':
      return '';
  }
}

const POINTER_CALLS = {
  click: 'click',
  double_click: 'doubleClick',
  triple_click: 'tripleClick',
  right_click: 'rightClick',
  middle_click: 'middleClick',
  move: 'moveTo',
} as const;

function scrollCall({ direction, amount = WHEEL_CLICKS, x, y }: Extract<Action, { type: 'scroll' }>): string {
  const call = direction === 'left' || direction === 'right' ? 'hscroll' : 'scroll';
  const clicks = direction === 'up' || direction === 'right' ? amount : -amount;
  const place = x === undefined || y === undefined ? '' : `, x=${x}, y=${y}`;
  return `pyautogui.${call}(${clicks}${place})`;
}

function typeCalls(text: string): string {
  const parts = text.match(/\n|\t|<|[\x20-\x3b\x3d-\x7e]+|[^\n\t\x20-\x7e]+/g) ?? [];
  return parts.map(typeCall).join('; ');
}

function typeCall(part: string): string {
  if (part === '\n') return 'pyautogui.press("enter")';
  if (part === '\t') return 'pyautogui.press("tab")';
  if (part === '<') return 'pyautogui.hotkey("shift", ",")';
  if (/^[ -~]+$/.test(part)) return `pyautogui.typewrite(${literal(part)})`;
  return `import pyperclip; pyperclip.copy(${literal(part)}); pyautogui.hotkey("ctrl", "v")`;
}

/** A string as a Python literal. JSON's are Python's, but for characters beyond the basic plane, which stay as they are. */
function literal(text: string): string {
  return JSON.stringify(text);
}

/** The pointer before and after the statements. */
export interface PointerPlace {
  x: number;
  y: number;
}

/**
 * pyautogui statements as actions; the inverse of `toPyautogui`, and understands what OSWorld's agents write. Calls
 * without coordinates act where the pointer is; `pointer` is moved along.
 *
 * Throws a DartError for whatever is no such call.
 */
export function parsePyautogui(source: string, pointer: PointerPlace = { x: 0, y: 0 }): Action[] {
  const state: ParseState = { pointer, copied: null };
  return parseCalls(source).flatMap((call) => actionsOf(call, state));
}

interface ParseState {
  pointer: PointerPlace;
  /** What pyperclip was given: the next ctrl v types it. */
  copied: string | null;
}

function actionsOf(call: PythonCall, state: ParseState): Action[] {
  const name = call.name.replace(/^pyautogui\./, '');
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  if (!handler) throw unknown(call, `${call.name} is not among the calls that are understood`);
  return handler(call, state);
}

type Handler = (call: PythonCall, state: ParseState) => Action[];

const HANDLERS: Record<string, Handler> = {
  click: (call, state) => clicks(call, state, numberOf(call, 'clicks', 2) ?? 1),
  leftClick: (call, state) => clicks(call, state, 1),
  doubleClick: (call, state) => clicks(call, state, 2),
  tripleClick: (call, state) => clicks(call, state, 3),
  rightClick: (call, state) => [{ type: 'right_click', ...moved(call, state) }],
  middleClick: (call, state) => [{ type: 'middle_click', ...moved(call, state) }],
  moveTo: (call, state) => [{ type: 'move', ...moved(call, state) }],
  moveRel: (call, state) => [{ type: 'move', ...moved(call, state, true) }],
  move: (call, state) => [{ type: 'move', ...moved(call, state, true) }],
  dragTo: (call, state) => drag(call, state, false),
  dragRel: (call, state) => drag(call, state, true),
  drag: (call, state) => drag(call, state, true),
  mouseDown: (call, state) => half(call, state, 'mouse_down'),
  mouseUp: (call, state) => half(call, state, 'mouse_up'),
  scroll: (call, state) => scroll(call, state, 'up', 'down'),
  vscroll: (call, state) => scroll(call, state, 'up', 'down'),
  hscroll: (call, state) => scroll(call, state, 'right', 'left'),
  write: typing,
  typewrite: typing,
  press: (call) => {
    const keys = call.args[0] ?? call.keywords.keys ?? call.keywords.key;
    const list = Array.isArray(keys) ? keys : [keys ?? null];
    const presses = Math.max(1, Math.min(100, numberOf(call, 'presses', 1) ?? 1));
    return Array.from({ length: presses }, () =>
      list.map((key): Action => ({ type: 'hotkey', keys: [text(call, key)] })),
    ).flat();
  },
  hotkey: (call, state) => {
    const keys = call.args.flat().map((key) => text(call, key));
    if (keys.length === 0) throw unknown(call, 'hotkey needs keys');
    const { copied } = state;
    if (copied === null || keys.join(' ').toLowerCase() !== 'ctrl v') return [{ type: 'hotkey', keys }];
    return [{ type: 'type', text: copied }];
  },
  keyDown: (call) => [{ type: 'key_down', key: text(call, call.args[0] ?? call.keywords.key ?? null) }],
  keyUp: (call) => [{ type: 'key_up', key: text(call, call.args[0] ?? call.keywords.key ?? null) }],
  sleep: (call) => [{ type: 'wait', ms: (numberOf(call, 'seconds', 0) ?? 0) * 1000 }],
  'time.sleep': (call) => [{ type: 'wait', ms: (numberOf(call, 'seconds', 0) ?? 0) * 1000 }],
  'pyperclip.copy': (call, state) => {
    state.copied = text(call, call.args[0] ?? null);
    return [];
  },
};

function clicks(call: PythonCall, state: ParseState, count: number): Action[] {
  const place = moved(call, state);
  const button = call.keywords.button ?? call.args[4] ?? 'left';
  if (button === 'right') return [{ type: 'right_click', ...place }];
  if (button === 'middle') return [{ type: 'middle_click', ...place }];
  const type = (['click', 'double_click', 'triple_click'] as const)[Math.min(3, Math.max(1, count)) - 1];
  return [{ type: type ?? 'click', ...place }];
}

function drag(call: PythonCall, state: ParseState, relative: boolean): Action[] {
  const from = { ...state.pointer };
  const to = moved(call, state, relative);
  return [{ type: 'drag', ...from, to_x: to.x, to_y: to.y }];
}

function half(call: PythonCall, state: ParseState, type: 'mouse_down' | 'mouse_up'): Action[] {
  const given = call.keywords.button ?? call.args[2] ?? call.args.find((arg) => typeof arg === 'string') ?? 'left';
  const button = given === 'right' || given === 'middle' ? given : 'left';
  const before = { ...state.pointer };
  const place = typeof call.args[0] === 'string' ? before : moved(call, state);
  const move: Action[] = place.x === before.x && place.y === before.y ? [] : [{ type: 'move', ...place }];
  return [...move, { type, button }];
}

function scroll(call: PythonCall, state: ParseState, positive: 'up' | 'right', negative: 'down' | 'left'): Action[] {
  const clicks = Math.round(numberOf(call, 'clicks', 0) ?? 0);
  if (clicks === 0) return [];
  const x = numberOf(call, 'x', 1);
  const y = numberOf(call, 'y', 2);
  const place = x === null || y === null ? {} : { x: Math.round(x), y: Math.round(y) };
  Object.assign(state.pointer, place);
  return [{ type: 'scroll', ...place, direction: clicks > 0 ? positive : negative, amount: Math.abs(clicks) }];
}

function typing(call: PythonCall): Action[] {
  const value = call.args[0] ?? call.keywords.message ?? null;
  if (Array.isArray(value)) return value.map((key): Action => ({ type: 'hotkey', keys: [text(call, key)] }));
  return [{ type: 'type', text: text(call, value) }];
}

/** Where the pointer is after a call that may name a place; moves it there. */
function moved(call: PythonCall, state: ParseState, relative = false): PointerPlace {
  const [first] = call.args;
  const args = Array.isArray(first) ? first : call.args;
  const at = (key: string, index: number) => numberOf({ ...call, args }, key, index);
  const dx = at(relative ? 'xOffset' : 'x', 0);
  const dy = at(relative ? 'yOffset' : 'y', 1);
  const { pointer } = state;
  const base = relative ? pointer : { x: 0, y: 0 };
  if (dx !== null) pointer.x = Math.round(base.x + dx);
  if (dy !== null) pointer.y = Math.round(base.y + dy);
  return { ...pointer };
}

function numberOf(call: PythonCall, keyword: string, index: number): number | null {
  const value = call.keywords[keyword] ?? call.args[index] ?? null;
  if (value === null) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw unknown(call, `${keyword} must be a number`);
  return value;
}

function text(call: PythonCall, value: PythonValue): string {
  if (typeof value !== 'string') throw unknown(call, 'a string is expected');
  return value;
}

function unknown(call: PythonCall, what: string): DartError {
  return new DartError(what, { where: call.source, hint: 'pyautogui calls such as pyautogui.click(10, 20)' });
}
