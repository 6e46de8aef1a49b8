import type { Action } from '../../guest/guest.ts';
import { isKey, keyName } from '../../guest/keys.ts';
import { GrammarError } from './call.ts';
import type { Point } from './coordinates.ts';

type Values = Readonly<Record<string, unknown>>;

interface Verb {
  parameters: readonly string[];
  build: (values: Values, pointer: Point) => Action | Action[];
}

const BUTTONS = ['left', 'middle', 'right'] as const;
const PLACE = ['x', 'y'];
const CLICKS = ['click', 'double_click', 'triple_click'] as const;

const VERBS: Readonly<Record<string, Verb>> = {
  MOVE_TO: { parameters: PLACE, build: (values, pointer) => ({ type: 'move', ...movedTo(values, pointer) }) },
  CLICK: { parameters: ['button', 'click_type', 'num_clicks', ...PLACE], build: clicked },
  RIGHT_CLICK: { parameters: PLACE, build: (values, pointer) => ({ type: 'right_click', ...moved(values, pointer) }) },
  DOUBLE_CLICK: {
    parameters: PLACE,
    build: (values, pointer) => ({ type: 'double_click', ...moved(values, pointer) }),
  },
  MOUSE_DOWN: {
    parameters: ['button', 'click_type'],
    build: (values) => ({ type: 'mouse_down', button: buttonOf(values) }),
  },
  MOUSE_UP: {
    parameters: ['button', 'click_type'],
    build: (values) => ({ type: 'mouse_up', button: buttonOf(values) }),
  },
  DRAG_TO: {
    parameters: PLACE,
    build: (values, pointer) => {
      const from = { ...pointer };
      const to = movedTo(values, pointer);
      return { type: 'drag', ...from, to_x: to.x, to_y: to.y };
    },
  },
  SCROLL: {
    parameters: ['dx', 'dy'],
    build: (values) => [
      ...scrolled(numberOf(values, 'dy', 0), 'up', 'down'),
      ...scrolled(numberOf(values, 'dx', 0), 'right', 'left'),
    ],
  },
  TYPING: { parameters: ['text'], build: (values) => ({ type: 'type', text: textOf(values, 'text') }) },
  PRESS: { parameters: ['key'], build: (values) => ({ type: 'hotkey', keys: [keyOf(textOf(values, 'key'))] }) },
  KEY_DOWN: { parameters: ['key'], build: (values) => ({ type: 'key_down', key: keyOf(textOf(values, 'key')) }) },
  KEY_UP: { parameters: ['key'], build: (values) => ({ type: 'key_up', key: keyOf(textOf(values, 'key')) }) },
  HOTKEY: { parameters: ['keys'], build: (values) => ({ type: 'hotkey', keys: keysOf(values.keys) }) },
  WAIT: { parameters: [], build: () => ({ type: 'wait' }) },
  DONE: { parameters: [], build: () => ({ type: 'finished' }) },
  FAIL: { parameters: [], build: () => ({ type: 'fail' }) },
};

/** Each `action_type` that can be read, for the documentation. */
export const ACTION_TYPES: readonly string[] = Object.keys(VERBS);

/**
 * One action of OSWorld's space `computer_13` (reference/osworld.md §5): `{action_type: 'CLICK', parameters: {x, y}}`,
 * with the parameters beside `action_type` in some agents' records. `pointer` is where the mouse is, and is moved along.
 * @throws GrammarError, as OSWorld raises: for an unknown type, a parameter that the type does not have, one that is
 * missing or of another kind, and a key that no keyboard has.
 */
export function parseComputer13(action: Values, pointer: Point): Action[] {
  const name = String(action.action_type);
  const verb = Object.hasOwn(VERBS, name.toUpperCase()) ? VERBS[name.toUpperCase()] : undefined;
  if (!verb) throw new GrammarError(`unknown action_type ${JSON.stringify(name.slice(0, 40))}`);
  const given = action.parameters;
  if (typeof given !== 'object' || given === null) return [verb.build(action, pointer)].flat();
  const strange = Object.keys(given).find((key) => !verb.parameters.includes(key));
  if (strange !== undefined) throw new GrammarError(`${name} takes no ${JSON.stringify(strange.slice(0, 40))}`);
  return [verb.build(given as Values, pointer)].flat();
}

function clicked(values: Values, pointer: Point): Action | Action[] {
  const at = moved(values, pointer);
  const button = buttonOf(values);
  const count = numberOf(values, 'num_clicks', 1);
  const type = CLICKS[count - 1];
  if (!type) throw new GrammarError('num_clicks must be 1, 2 or 3');
  if (button === 'left') return { type, ...at };
  return Array.from({ length: count }, () => ({ type: `${button}_click` as const, ...at }));
}

function scrolled(clicks: number, positive: 'up' | 'right', negative: 'down' | 'left'): Action[] {
  const amount = Math.round(Math.abs(clicks));
  return amount === 0 ? [] : [{ type: 'scroll', direction: clicks > 0 ? positive : negative, amount }];
}

/** Where the pointer is after a verb that may name a place. */
function moved(values: Values, pointer: Point): Point {
  const named = [values.x, values.y].filter((value) => value !== undefined && value !== null).length;
  return named === 0 ? { ...pointer } : movedTo(values, pointer);
}

function movedTo(values: Values, pointer: Point): Point {
  pointer.x = Math.round(numberOf(values, 'x'));
  pointer.y = Math.round(numberOf(values, 'y'));
  return { ...pointer };
}

function buttonOf(values: Values): (typeof BUTTONS)[number] {
  const given = values.button ?? values.click_type ?? 'left';
  const found = BUTTONS.find((button) => typeof given === 'string' && button === given.toLowerCase());
  if (!found) throw new GrammarError('button must be left, middle or right');
  return found;
}

function keysOf(keys: unknown): string[] {
  const list = Array.isArray(keys) ? keys : [keys];
  if (list.length > 0 && list.every((key) => typeof key === 'string')) return list.map(keyOf);
  throw new GrammarError('keys must be a list of key names');
}

function keyOf(key: string): string {
  const name = keyName(key);
  if (isKey(name)) return name;
  throw new GrammarError(`there is no key ${JSON.stringify(key.slice(0, 40))}`);
}

function numberOf(values: Values, name: string, otherwise?: number): number {
  const value = values[name] ?? otherwise;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new GrammarError(`${name} must be a number`);
}

function textOf(values: Values, name: string): string {
  const value = values[name];
  if (typeof value === 'string') return value;
  throw new GrammarError(`${name} must be a text`);
}
