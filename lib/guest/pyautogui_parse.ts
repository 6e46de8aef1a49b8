import { DartError } from '../errors.ts';
import type { Action } from './guest.ts';
import { keyName } from './keys.ts';
import { argumentsOf, type Bound } from './pyautogui_signatures.ts';
import { type BareWords, type PythonCall, parseCalls } from './python_calls.ts';
import type { PythonValue } from './python_literals.ts';

/** The pointer before and after the statements. */
export interface PointerPlace {
  x: number;
  y: number;
}

/** More actions than this in one go are a mistake; they would keep a desktop busy for hours. */
export const MAX_ACTIONS = 1000;

/** OSWorld's words for what needs no pyautogui (reference/osworld.md §5). */
const WORDS: Readonly<Record<string, Action>> = {
  WAIT: { type: 'wait' },
  DONE: { type: 'finished' },
  FAIL: { type: 'fail' },
};
const NO_WORDS: BareWords = [];
const ALL_WORDS: BareWords = Object.keys(WORDS);

export interface PyautoguiOptions {
  /** Whether WAIT, DONE and FAIL may stand among the statements, as in the code of OSWorld's agents. */
  words?: boolean;
}

/**
 * pyautogui statements as actions; the inverse of `toPyautogui`, and understands what OSWorld's agents write. Calls
 * without coordinates act where the pointer is; `pointer` is moved along.
 *
 * Throws a DartError for whatever is no such call, with that piece of the code in `where`.
 */
export function parsePyautogui(
  source: string,
  pointer: PointerPlace = { x: 0, y: 0 },
  { words = false }: PyautoguiOptions = {},
): Action[] {
  const state: ParseState = { pointer, copied: null };
  const actions: Action[] = [];
  for (const call of parseCalls(source, words ? ALL_WORDS : NO_WORDS)) {
    for (const action of actionsOf(call, state)) actions.push(action);
    if (actions.length > MAX_ACTIONS) throw problem(call, `there are more than ${MAX_ACTIONS} actions`);
  }
  return actions;
}

interface ParseState {
  pointer: PointerPlace;
  /** What pyperclip was given: the next ctrl v types it. */
  copied: string | null;
}

type Button = 'left' | 'middle' | 'right';
type Handler = (values: Bound, state: ParseState, call: PythonCall) => Action[];

function actionsOf(call: PythonCall, state: ParseState): Action[] {
  if (Object.hasOwn(WORDS, call.name)) return [{ ...WORDS[call.name]! }];
  const name = call.name.replace(/^pyautogui\./, '');
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  if (!handler) throw problem(call, `${call.name} is not among the calls that are understood`);
  return handler(argumentsOf(name, call), state, call);
}

const HANDLERS: Readonly<Record<string, Handler>> = {
  click: (values, state, call) => clicks(values, state, call, whole(values, 'clicks', call) ?? 1),
  leftClick: (values, state, call) => clicks(values, state, call, 1),
  doubleClick: (values, state, call) => clicks(values, state, call, 2),
  tripleClick: (values, state, call) => clicks(values, state, call, 3),
  rightClick: (values, state, call) => [{ type: 'right_click', ...moved(values, state, call) }],
  middleClick: (values, state, call) => [{ type: 'middle_click', ...moved(values, state, call) }],
  moveTo: (values, state, call) => [{ type: 'move', ...moved(values, state, call) }],
  moveRel: (values, state, call) => [{ type: 'move', ...movedBy(values, state, call) }],
  move: (values, state, call) => [{ type: 'move', ...movedBy(values, state, call) }],
  dragTo: (values, state, call) => drag(values, state, call, moved),
  dragRel: (values, state, call) => drag(values, state, call, movedBy),
  drag: (values, state, call) => drag(values, state, call, movedBy),
  mouseDown: (values, state, call) => half(values, state, call, 'mouse_down'),
  mouseUp: (values, state, call) => half(values, state, call, 'mouse_up'),
  scroll: (values, state, call) => scroll(values, state, call, 'up', 'down'),
  vscroll: (values, state, call) => scroll(values, state, call, 'up', 'down'),
  hscroll: (values, state, call) => scroll(values, state, call, 'right', 'left'),
  write: typing,
  typewrite: typing,
  press,
  hotkey,
  keyDown: (values, _, call) => [{ type: 'key_down', key: keyName(text(values.key, call)) }],
  keyUp: (values, _, call) => [{ type: 'key_up', key: keyName(text(values.key, call)) }],
  sleep,
  'time.sleep': sleep,
  'pyperclip.copy': (values, state, call) => {
    state.copied = text(values.text, call);
    return [];
  },
  print: () => [],
};

/** The calls that are understood, without `pyautogui.`, for the documentation. */
export const PYAUTOGUI_CALLS: readonly string[] = Object.keys(HANDLERS);

const CLICKS = ['click', 'double_click', 'triple_click'] as const;

function clicks(values: Bound, state: ParseState, call: PythonCall, count: number): Action[] {
  const place = moved(values, state, call);
  const button = buttonOf(values, call);
  const type = CLICKS[count - 1];
  if (!type) throw problem(call, 'clicks must be 1, 2 or 3');
  if (button === 'left') return [{ type, ...place }];
  return Array.from({ length: count }, () => ({ type: `${button}_click` as const, ...place }));
}

/** The left button's drag is one action; another button's is what it is made of. */
function drag(values: Bound, state: ParseState, call: PythonCall, move: typeof moved): Action[] {
  const button = buttonOf(values, call);
  const from = { ...state.pointer };
  const to = move(values, state, call);
  if (button === 'left') return [{ type: 'drag', ...from, to_x: to.x, to_y: to.y }];
  return [
    { type: 'mouse_down', button },
    { type: 'move', ...to },
    { type: 'mouse_up', button },
  ];
}

function half(values: Bound, state: ParseState, call: PythonCall, type: 'mouse_down' | 'mouse_up'): Action[] {
  // `mouseDown('right')`: agents forget that the place comes first.
  const onlyButton = typeof values.x === 'string' && values.button === undefined;
  const given: Bound = onlyButton ? { button: values.x } : values;
  const button = buttonOf(given, call);
  const before = { ...state.pointer };
  const place = moved(given, state, call);
  const stays = Object.is(place.x, before.x) && Object.is(place.y, before.y);
  return [...(stays ? [] : [{ type: 'move' as const, ...place }]), { type, button }];
}

function scroll(
  values: Bound,
  state: ParseState,
  call: PythonCall,
  positive: 'up' | 'right',
  negative: 'down' | 'left',
): Action[] {
  const amount = Math.round(number(values, 'clicks', call) ?? 0);
  const placed = values.x !== undefined && values.y !== undefined;
  const place = placed ? moved(values, state, call) : {};
  if (amount === 0) return [];
  return [{ type: 'scroll', ...place, direction: amount > 0 ? positive : negative, amount: Math.abs(amount) }];
}

function typing(values: Bound, _: ParseState, call: PythonCall): Action[] {
  const { message } = values;
  if (!Array.isArray(message)) return [{ type: 'type', text: text(message, call) }];
  return message.map((key): Action => ({ type: 'hotkey', keys: [keyName(text(key, call))] }));
}

function press(values: Bound, _: ParseState, call: PythonCall): Action[] {
  const keys = Array.isArray(values.keys) ? values.keys : [values.keys];
  const presses = whole(values, 'presses', call) ?? 1;
  if (presses * keys.length > MAX_ACTIONS) throw problem(call, `there are more than ${MAX_ACTIONS} actions`);
  const once = keys.map((key): Action => ({ type: 'hotkey', keys: [keyName(text(key, call))] }));
  return Array.from({ length: Math.max(0, presses) }, () => once.map((action) => ({ ...action }))).flat();
}

function hotkey(values: Bound, { copied }: ParseState, call: PythonCall): Action[] {
  const keys = (values.keys as PythonValue[]).flat().map((key) => keyName(text(key, call)));
  if (keys.length === 0) throw problem(call, 'hotkey needs keys');
  const pastes = keys.join(' ').toLowerCase() === 'ctrl v';
  return [pastes && copied !== null ? { type: 'type', text: copied } : { type: 'hotkey', keys }];
}

function sleep(values: Bound, _: ParseState, call: PythonCall): Action[] {
  const seconds = number(values, 'seconds', call) ?? 0;
  if (seconds < 0) throw problem(call, 'a pause cannot be negative');
  return [{ type: 'wait', ms: seconds * 1000 }];
}

/** Where the pointer is after a call that may name a place, as `x, y`, `(x, y)` or a box; moves it there. */
function moved(values: Bound, state: ParseState, call: PythonCall): PointerPlace {
  const { pointer } = state;
  const { x, y } = placeOf(values, 'x', 'y', call);
  if (x !== null) pointer.x = Math.round(x);
  if (y !== null) pointer.y = Math.round(y);
  return { ...pointer };
}

function movedBy(values: Bound, state: ParseState, call: PythonCall): PointerPlace {
  const { pointer } = state;
  const { x, y } = placeOf(values, 'xOffset', 'yOffset', call);
  pointer.x = Math.round(pointer.x + (x ?? 0));
  pointer.y = Math.round(pointer.y + (y ?? 0));
  return { ...pointer };
}

function placeOf(values: Bound, xName: string, yName: string, call: PythonCall) {
  const first = values[xName];
  if (!Array.isArray(first)) return { x: number(values, xName, call), y: number(values, yName, call) };
  const whole = first.every((value) => typeof value === 'number' && Number.isFinite(value));
  if (values[yName] !== undefined || !whole || (first.length !== 2 && first.length !== 4)) {
    throw problem(call, 'a place is two numbers, or four of a box');
  }
  // A box is left, top, width and height here, as pyautogui's own searches give it.
  const [x, y, width = 0, height = 0] = first as number[];
  return { x: x! + width / 2, y: y! + height / 2 };
}

const BUTTONS: ReadonlyMap<PythonValue | undefined, Button> = new Map<PythonValue | undefined, Button>([
  [undefined, 'left'],
  ['left', 'left'],
  ['middle', 'middle'],
  ['right', 'right'],
  ['primary', 'left'],
  ['secondary', 'right'],
  [1, 'left'],
  [2, 'middle'],
  [3, 'right'],
]);

function buttonOf({ button }: Bound, call: PythonCall): Button {
  const found = BUTTONS.get(typeof button === 'string' ? button.toLowerCase() : button);
  if (!found) throw problem(call, 'button must be left, middle or right');
  return found;
}

function number(values: Bound, name: string, call: PythonCall): number | null {
  const value = values[name];
  if (value === undefined) return null;
  if (typeof value !== 'number' || !Number.isFinite(value)) throw problem(call, `${name} must be a number`);
  return value;
}

function whole(values: Bound, name: string, call: PythonCall): number | null {
  const value = number(values, name, call);
  if (value !== null && !Number.isSafeInteger(value)) throw problem(call, `${name} must be a whole number`);
  return value;
}

function text(value: PythonValue | undefined, call: PythonCall): string {
  if (typeof value !== 'string') throw problem(call, 'a string is expected');
  return value;
}

function problem(call: PythonCall, what: string): DartError {
  return new DartError(what, { where: call.source, hint: 'pyautogui calls such as pyautogui.click(10, 20)' });
}
