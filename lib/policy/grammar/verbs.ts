import type { Action } from '../../guest/guest.ts';
import { countOf, durationOf, oneOf, type Parameter, required, type Values, valuesOf } from './arguments.ts';
import { placeOf } from './boxes.ts';
import { type Call, GrammarError } from './call.ts';
import { type Point, type ScreenConvention, toScreen } from './coordinates.ts';
import { parseKeys } from './keys.ts';

interface Verb {
  /** In positional order. */
  parameters: readonly Parameter[];
  /** Whether further positional arguments belong to the first, as in `hotkey('ctrl', 's')`. */
  variadic?: boolean;
  build: (values: Values, convention: ScreenConvention) => Action | Action[];
}

const START: Parameter = {
  names: ['start_box', 'point', 'start_point', 'box', 'bbox', 'position', 'coordinate', 'coordinates'],
  place: true,
};
const END: Parameter = { names: ['end_box', 'end_point', 'to'], place: true };
const KEY: Parameter = { names: ['key', 'keys', 'hotkey', 'press'] };
const CONTENT: Parameter = { names: ['content', 'text'] };
const BUTTON: Parameter = { names: ['button'] };
const BUTTONS = ['left', 'middle', 'right'] as const;
const DIRECTIONS = ['up', 'down', 'left', 'right'] as const;
/** How long a press is long, where the model does not say. */
const LONG_PRESS_SECONDS = 1;

type PointerType = 'click' | 'double_click' | 'triple_click' | 'right_click' | 'middle_click' | 'move';

function pointer(type: PointerType): Verb {
  return { parameters: [START], build: (values, convention) => ({ type, ...place(values, 'start_box', convention) }) };
}

const click: Verb = {
  parameters: [START, BUTTON],
  build: (values, convention) => {
    const button = oneOf(values.button ?? 'left', BUTTONS, 'button');
    return { type: button === 'left' ? 'click' : `${button}_click`, ...place(values, 'start_box', convention) };
  },
};

/** Made of what a desktop can do: there, button down, wait, button up. */
const longPress: Verb = {
  parameters: [START, { names: ['time', 'seconds', 'duration'] }],
  build: (values, convention) => {
    const seconds = values.time?.trim() ? durationOf(values.time, 'time') : LONG_PRESS_SECONDS;
    return [
      { type: 'move', ...place(values, 'start_box', convention) },
      { type: 'mouse_down', button: 'left' },
      { type: 'wait', ms: seconds * 1000 },
      { type: 'mouse_up', button: 'left' },
    ];
  },
};

const drag: Verb = {
  parameters: [START, END],
  build: (values, convention) => {
    const from = place(values, 'start_box', convention);
    const to = place(values, 'end_box', convention);
    return { type: 'drag', ...from, to_x: to.x, to_y: to.y };
  },
};

const hotkey: Verb = {
  parameters: [KEY],
  variadic: true,
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

function half(type: 'mouse_down' | 'mouse_up'): Verb {
  return {
    parameters: [BUTTON, START],
    build: (values, convention) => {
      const action: Action = { type, button: oneOf(values.button ?? 'left', BUTTONS, 'button') };
      if (values.start_box === undefined) return action;
      return [{ type: 'move', ...place(values, 'start_box', convention) }, action];
    },
  };
}

const fail: Verb = {
  parameters: [{ names: ['content', 'text', 'reason'] }],
  build: (values) => ({ type: 'fail', ...(values.content === undefined ? {} : { reason: values.content }) }),
};

const scroll: Verb = {
  parameters: [START, { names: ['direction'] }, { names: ['amount', 'clicks'] }],
  build: (values, convention) => ({
    type: 'scroll',
    ...(values.start_box === undefined ? {} : place(values, 'start_box', convention)),
    direction: oneOf(required(values, 'direction'), DIRECTIONS, 'direction'),
    ...(values.amount === undefined ? {} : { amount: countOf(values.amount, 'amount') }),
  }),
};

const wait: Verb = {
  parameters: [{ names: ['seconds', 'time', 'duration'] }, { names: ['ms'] }],
  build: (values) => {
    if (values.ms !== undefined) return { type: 'wait', ms: durationOf(values.ms, 'ms') };
    if (values.seconds !== undefined) return { type: 'wait', ms: durationOf(values.seconds, 'seconds') * 1000 };
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
  click,
  left_single: click,
  left_click: click,
  left_double: pointer('double_click'),
  double_click: pointer('double_click'),
  left_triple: pointer('triple_click'),
  triple_click: pointer('triple_click'),
  right_single: pointer('right_click'),
  right_click: pointer('right_click'),
  middle_single: pointer('middle_click'),
  middle_click: pointer('middle_click'),
  long_press: longPress,
  move: pointer('move'),
  move_to: pointer('move'),
  mouse_move: pointer('move'),
  hover: pointer('move'),
  mouse_down: half('mouse_down'),
  mouse_up: half('mouse_up'),
  drag,
  left_drag: drag,
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
  error_env: fail,
};

/** Each verb that can be read, for the documentation. */
export const VERB_NAMES: readonly string[] = Object.keys(VERBS);

/** The calls of one reply → the actions that they mean. Throws GrammarError on the first that means none. */
export function actionsOf(calls: readonly Call[], convention: ScreenConvention): Action[] {
  const actions = calls.map((call) => [toActions(call, convention)].flat());
  holdPressed(calls, actions);
  return actions.flat();
}

function toActions(call: Call, convention: ScreenConvention): Action | Action[] {
  const verb = Object.hasOwn(VERBS, call.verb) ? VERBS[call.verb] : undefined;
  if (!verb) throw new GrammarError(`unknown action ${JSON.stringify(call.verb.slice(0, 40))}`);
  return verb.build(valuesOf(verb.variadic ? joined(call) : call, verb.parameters), convention);
}

function joined(call: Call): Call {
  if (call.arguments.length < 2 || call.arguments.some(({ name }) => name !== null)) return call;
  return { ...call, arguments: [{ name: null, value: call.arguments.map(({ value }) => value).join(' ') }] };
}

/** Keys that do nothing when they are pressed and let go: who presses them means to hold them. */
const HELD = ['ctrl', 'shift', 'alt'];

/** `press` is a tap, but holds a modifier, and any key that the same reply releases later, as UI-TARS means it. */
function holdPressed(calls: readonly Call[], actions: Action[][]): void {
  const released = new Set<string>();
  for (let at = calls.length - 1; at >= 0; at--) {
    const [action] = actions[at]!;
    if (action?.type === 'key_up') released.add(action.key);
    if (calls[at]!.verb !== 'press' || action?.type !== 'hotkey' || action.keys.length > 1) continue;
    const key = action.keys[0]!;
    if (HELD.includes(key) || released.delete(key)) actions[at] = [{ type: 'key_down', key }];
  }
}

function place(values: Values, name: string, convention: ScreenConvention): Point {
  return toScreen(placeOf(required(values, name), name), convention);
}
