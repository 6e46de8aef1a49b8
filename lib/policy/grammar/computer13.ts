import type { Action } from '../../guest/guest.ts';
import { GrammarError } from './call.ts';
import type { Point } from './coordinates.ts';

type Values = Readonly<Record<string, unknown>>;

/**
 * One action of OSWorld's space `computer_13` (reference/osworld.md §5): `{action_type: 'CLICK', parameters: {x, y}}`,
 * with the parameters beside `action_type` in some agents' records. `pointer` is where the mouse is, and is moved along.
 * @throws GrammarError for an unknown verb or a parameter that is missing or of another kind.
 */
export function parseComputer13(action: Values, pointer: Point): Action[] {
  const name = String(action.action_type);
  const read = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (!read) throw new GrammarError(`unknown action_type ${JSON.stringify(name.slice(0, 40))}`);
  const given = action.parameters;
  return read(typeof given === 'object' && given !== null ? (given as Values) : action, pointer);
}

type Verb = (values: Values, pointer: Point) => Action[];

const BUTTONS = ['left', 'middle', 'right'] as const;

const VERBS: Readonly<Record<string, Verb>> = {
  MOVE_TO: (values, pointer) => [{ type: 'move', ...moved(values, pointer) }],
  CLICK: (values, pointer) => [clicked(values, moved(values, pointer))],
  RIGHT_CLICK: (values, pointer) => [{ type: 'right_click', ...moved(values, pointer) }],
  DOUBLE_CLICK: (values, pointer) => [{ type: 'double_click', ...moved(values, pointer) }],
  MOUSE_DOWN: (values) => [{ type: 'mouse_down', button: buttonOf(values) }],
  MOUSE_UP: (values) => [{ type: 'mouse_up', button: buttonOf(values) }],
  DRAG_TO: (values, pointer) => {
    const from = { ...pointer };
    const to = moved(values, pointer);
    return [{ type: 'drag', ...from, to_x: to.x, to_y: to.y }];
  },
  SCROLL: (values) => [
    ...scrolled(numberOf(values, 'dy', 0), 'up', 'down'),
    ...scrolled(numberOf(values, 'dx', 0), 'right', 'left'),
  ],
  TYPING: (values) => [{ type: 'type', text: textOf(values, 'text') }],
  PRESS: (values) => [{ type: 'hotkey', keys: [textOf(values, 'key')] }],
  KEY_DOWN: (values) => [{ type: 'key_down', key: textOf(values, 'key') }],
  KEY_UP: (values) => [{ type: 'key_up', key: textOf(values, 'key') }],
  HOTKEY: (values) => [{ type: 'hotkey', keys: keysOf(values.keys) }],
  WAIT: () => [{ type: 'wait' }],
  DONE: () => [{ type: 'finished' }],
  FAIL: () => [{ type: 'fail' }],
};

function clicked(values: Values, at: Point): Action {
  const button = buttonOf(values);
  if (button === 'right') return { type: 'right_click', ...at };
  if (button === 'middle') return { type: 'middle_click', ...at };
  const count = Math.min(3, Math.max(1, numberOf(values, 'num_clicks', 1)));
  return { type: (['click', 'double_click', 'triple_click'] as const)[count - 1] ?? 'click', ...at };
}

function scrolled(clicks: number, positive: 'up' | 'right', negative: 'down' | 'left'): Action[] {
  const amount = Math.round(Math.abs(clicks));
  return amount === 0 ? [] : [{ type: 'scroll', direction: clicks > 0 ? positive : negative, amount }];
}

/** Where the pointer is after a verb that may name a place. */
function moved(values: Values, pointer: Point): Point {
  pointer.x = Math.round(numberOf(values, 'x', pointer.x));
  pointer.y = Math.round(numberOf(values, 'y', pointer.y));
  return { ...pointer };
}

function buttonOf(values: Values): (typeof BUTTONS)[number] {
  return BUTTONS.find((button) => button === values.button) ?? 'left';
}

function keysOf(keys: unknown): string[] {
  const list = Array.isArray(keys) ? keys : [keys];
  if (list.length > 0 && list.every((key) => typeof key === 'string')) return list;
  throw new GrammarError('keys must be a list of key names');
}

function numberOf(values: Values, name: string, otherwise: number): number {
  const value = values[name] ?? otherwise;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new GrammarError(`${name} must be a number`);
}

function textOf(values: Values, name: string): string {
  const value = values[name];
  if (typeof value === 'string') return value;
  throw new GrammarError(`${name} must be a text`);
}
