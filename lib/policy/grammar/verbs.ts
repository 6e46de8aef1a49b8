import type { Action, Size } from '../../guest/guest.ts';
import type { Coordinates } from '../policy.ts';
import { type Argument, type Call, GrammarError } from './call.ts';
import { type Point, toScreen } from './coordinates.ts';
import { parseKeys } from './keys.ts';

export interface ScreenConvention {
  screen: Size;
  coordinates: Coordinates;
}

/** The arguments of one call, by the names that the verb knows. */
type Values = Readonly<Record<string, string | undefined>>;

interface Verb {
  /** Parameters in positional order; each is known by any of its names. */
  parameters: readonly (readonly string[])[];
  build: (values: Values, convention: ScreenConvention) => Action;
}

const START = ['start_box', 'point', 'start_point', 'box', 'position'] as const;
const END = ['end_box', 'end_point', 'to'] as const;
const KEY = ['key', 'keys', 'hotkey'] as const;
const CONTENT = ['content', 'text'] as const;

function pointer(type: 'click' | 'double_click' | 'triple_click' | 'right_click' | 'middle_click' | 'move'): Verb {
  return { parameters: [START], build: (values, convention) => ({ type, ...place(values, 'start_box', convention) }) };
}

const drag: Verb = {
  parameters: [START, END],
  build: (values, convention) => {
    const to = place(values, 'end_box', convention);
    return { type: 'drag', ...place(values, 'start_box', convention), to_x: to.x, to_y: to.y };
  },
};

const hotkey: Verb = {
  parameters: [KEY],
  build: (values) => ({ type: 'hotkey', keys: parseKeys(required(values, 'key')) }),
};

function singleKey(type: 'key_down' | 'key_up'): Verb {
  return {
    parameters: [KEY],
    build: (values) => {
      const keys = parseKeys(required(values, 'key'));
      if (keys.length > 1) throw new GrammarError(`${type} takes one key, not ${keys.length}`);
      return { type, key: keys[0]! };
    },
  };
}

function button(type: 'mouse_down' | 'mouse_up'): Verb {
  return {
    parameters: [['button']],
    build: (values) => ({ type, button: oneOf(values.button ?? 'left', ['left', 'middle', 'right'], 'button') }),
  };
}

const fail: Verb = {
  parameters: [['content', 'text', 'reason']],
  build: (values) => ({ type: 'fail', ...(values.content === undefined ? {} : { reason: values.content }) }),
};

const scroll: Verb = {
  parameters: [START, ['direction'], ['amount']],
  build: (values, convention) => ({
    type: 'scroll',
    ...(values.start_box === undefined ? {} : place(values, 'start_box', convention)),
    direction: oneOf(required(values, 'direction').trim().toLowerCase(), ['up', 'down', 'left', 'right'], 'direction'),
    ...(values.amount === undefined ? {} : { amount: wholeNumber(values.amount, 'amount') }),
  }),
};

const wait: Verb = {
  parameters: [['seconds', 'time', 'duration'], ['ms']],
  build: (values) => {
    if (values.ms !== undefined) return { type: 'wait', ms: decimal(values.ms, 'ms') };
    if (values.seconds !== undefined) return { type: 'wait', ms: decimal(values.seconds, 'seconds') * 1000 };
    return { type: 'wait' };
  },
};

const finished: Verb = {
  parameters: [CONTENT],
  build: (values) => ({ type: 'finished', ...(values.content === undefined ? {} : { text: values.content }) }),
};

const type: Verb = {
  parameters: [CONTENT],
  build: (values) => ({ type: 'type', text: required(values, 'content') }),
};

/** UI-TARS's verbs, their common spellings, and the few that complete the action union. */
const VERBS: Readonly<Record<string, Verb>> = {
  click: pointer('click'),
  left_single: pointer('click'),
  left_click: pointer('click'),
  left_double: pointer('double_click'),
  double_click: pointer('double_click'),
  triple_click: pointer('triple_click'),
  right_single: pointer('right_click'),
  right_click: pointer('right_click'),
  middle_click: pointer('middle_click'),
  move: pointer('move'),
  hover: pointer('move'),
  mouse_down: button('mouse_down'),
  mouse_up: button('mouse_up'),
  drag,
  select: drag,
  scroll,
  type,
  hotkey,
  press: hotkey,
  keydown: singleKey('key_down'),
  key_down: singleKey('key_down'),
  keyup: singleKey('key_up'),
  key_up: singleKey('key_up'),
  release: singleKey('key_up'),
  wait,
  finished,
  fail,
  call_user: fail,
};

/** One call → the action that it means. Throws GrammarError on unknown verbs, unknown arguments and broken boxes. */
export function toAction(call: Call, convention: ScreenConvention): Action {
  const verb = Object.hasOwn(VERBS, call.verb) ? VERBS[call.verb] : undefined;
  if (!verb) throw new GrammarError(`unknown action ${JSON.stringify(call.verb.slice(0, 40))}`);
  return verb.build(valuesOf(call, verb), convention);
}

/** Arguments under the first name of their parameter. */
function valuesOf(call: Call, verb: Verb): Values {
  const values: Record<string, string> = {};
  joinPoints(call.arguments, verb).forEach((argument, index) => {
    const names =
      argument.name === null ? verb.parameters[index] : verb.parameters.find((p) => p.includes(argument.name!));
    const shown = argument.name ?? `argument ${index + 1}`;
    if (!names) throw new GrammarError(`${call.verb} takes no ${JSON.stringify(shown)}`);
    if (values[names[0]!] !== undefined) throw new GrammarError(`${call.verb} has ${JSON.stringify(shown)} twice`);
    values[names[0]!] = argument.value;
  });
  return values;
}

/** `click(120, 48)` means `click((120, 48))`: where a point is due, two bare numbers are one. */
function joinPoints(given: readonly Argument[], verb: Verb): Argument[] {
  const joined: Argument[] = [];
  for (let at = 0; at < given.length; at++) {
    const [argument, next] = [given[at]!, given[at + 1]];
    const due = verb.parameters[joined.length];
    if ((due === START || due === END) && isBareNumber(argument) && isBareNumber(next)) {
      joined.push({ name: null, value: `(${argument.value},${next!.value})` });
      at += 1;
    } else joined.push(argument);
  }
  return joined;
}

function isBareNumber(argument: Argument | undefined): boolean {
  return argument?.name === null && DECIMAL.test(argument.value);
}

function required(values: Values, name: string): string {
  const value = values[name];
  if (value === undefined) throw new GrammarError(`${name} is missing`);
  return value;
}

const BOX_MARKS = /<\|box_start\|>|<\|box_end\|>|<\/?(?:point|bbox)>/g;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** `<|box_start|>(x,y)<|box_end|>`, `(x,y)`, `[x1,y1,x2,y2]`, `<point>x y</point>`: a point, or the centre of a box. */
function place(values: Values, name: string, { screen, coordinates }: ScreenConvention): Point {
  const text = required(values, name);
  const inner = text.replace(BOX_MARKS, ' ').trim();
  const bare = /^\(.*\)$|^\[.*\]$/s.test(inner) ? inner.slice(1, -1) : inner;
  const parts = bare.trim().split(/\s*,\s*|\s+/);
  const numbers = parts.map((part) => (DECIMAL.test(part) ? Number(part) : Number.NaN));
  if (!numbers.every(Number.isFinite) || (numbers.length !== 2 && numbers.length !== 4)) {
    throw new GrammarError(`${name} is not a point or a box: ${JSON.stringify(text.slice(0, 60))}`);
  }
  const [x1, y1, x2, y2] = numbers as [number, number, number?, number?];
  const point = x2 === undefined || y2 === undefined ? { x: x1, y: y1 } : { x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
  return toScreen(point, screen, coordinates);
}

function oneOf<const T extends string>(value: string, choices: readonly T[], name: string): T {
  const found = choices.find((choice) => choice === value);
  if (!found)
    throw new GrammarError(`${name} must be one of ${choices.join(', ')}, not ${JSON.stringify(value.slice(0, 40))}`);
  return found;
}

function decimal(value: string, name: string): number {
  const number = DECIMAL.test(value.trim()) ? Number(value) : Number.NaN;
  if (!Number.isFinite(number) || number < 0)
    throw new GrammarError(`${name} is not a duration: ${JSON.stringify(value.slice(0, 40))}`);
  return number;
}

function wholeNumber(value: string, name: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value.trim()) || !Number.isSafeInteger(number) || number < 1) {
    throw new GrammarError(`${name} is not a whole number above 0: ${JSON.stringify(value.slice(0, 40))}`);
  }
  return number;
}
