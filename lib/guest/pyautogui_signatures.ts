import { DartError } from '../errors.ts';
import type { PythonCall } from './python_calls.ts';
import type { PythonValue } from './python_literals.ts';

/** Arguments by the names of their parameters; what was not given, or given as None, is absent. */
export type Bound = Readonly<Record<string, PythonValue | undefined>>;

/** How fast something is done: it changes nothing about what is done. */
const PACE = ['interval', 'duration', 'tween', 'logScreenshot', '_pause', 'pause'];

const PLACED_CLICK = ['x', 'y', 'interval', 'button', 'duration', 'tween', 'logScreenshot', '_pause'];
const SIDE_CLICK = ['x', 'y', 'interval', 'duration', 'tween', 'logScreenshot', '_pause'];
const BUTTON_HALF = ['x', 'y', 'button', 'duration', 'tween', 'logScreenshot', '_pause'];
const RELATIVE = ['xOffset', 'yOffset', 'duration', 'tween', 'logScreenshot', '_pause'];
const RELATIVE_DRAG = ['xOffset', 'yOffset', 'duration', 'tween', 'button', 'logScreenshot', '_pause'];
const SCROLL = ['clicks', 'x', 'y', 'logScreenshot', '_pause'];
const WRITE = ['message', 'interval', 'logScreenshot', '_pause'];
const KEY = ['key', 'logScreenshot', '_pause'];

/** Parameters of each call that is understood, in pyautogui's order. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  click: ['x', 'y', 'clicks', 'interval', 'button', 'duration', 'tween', 'logScreenshot', '_pause'],
  leftClick: SIDE_CLICK,
  rightClick: SIDE_CLICK,
  middleClick: SIDE_CLICK,
  doubleClick: PLACED_CLICK,
  tripleClick: PLACED_CLICK,
  moveTo: ['x', 'y', 'duration', 'tween', 'logScreenshot', '_pause'],
  move: RELATIVE,
  moveRel: RELATIVE,
  dragTo: ['x', 'y', 'duration', 'tween', 'button', 'logScreenshot', '_pause'],
  drag: RELATIVE_DRAG,
  dragRel: RELATIVE_DRAG,
  mouseDown: BUTTON_HALF,
  mouseUp: BUTTON_HALF,
  scroll: SCROLL,
  vscroll: SCROLL,
  hscroll: SCROLL,
  write: WRITE,
  typewrite: WRITE,
  press: ['keys', 'presses', 'interval', 'logScreenshot', '_pause'],
  keyDown: KEY,
  keyUp: KEY,
  sleep: ['seconds'],
  'time.sleep': ['seconds'],
  'pyperclip.copy': ['text'],
};
/** What agents call some parameters. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['key', 'keys'],
  ['text', 'message'],
  ['secs', 'seconds'],
]);

/**
 * The arguments of a call by parameter; those of `hotkey` are one list under `keys`, those of `print` nothing.
 * @throws DartError for an argument that the call does not have, or has twice.
 */
export function argumentsOf(name: string, call: PythonCall): Bound {
  if (name === 'print') return {};
  const parameters = name === 'hotkey' ? PACE : (PARAMETERS[name] ?? []);
  const bound: Record<string, PythonValue | undefined> = Object.create(null);
  if (name === 'hotkey') bound.keys = call.args;
  else for (const [at, value] of call.args.entries()) bind(bound, parameters[at], value, call, `argument ${at + 1}`);
  for (const [keyword, value] of Object.entries(call.keywords)) {
    const parameter = [keyword, OTHER_NAMES.get(keyword)].find(
      (each) => each !== undefined && parameters.includes(each),
    );
    bind(bound, parameter ?? (PACE.includes(keyword) ? keyword : undefined), value, call, keyword);
  }
  return bound;
}

function bind(
  bound: Record<string, PythonValue | undefined>,
  parameter: string | undefined,
  value: PythonValue,
  call: PythonCall,
  shown: string,
): void {
  if (parameter === undefined) throw new DartError(`${call.name} takes no ${shown}`, { where: call.source });
  if (bound[parameter] !== undefined) throw new DartError(`${call.name} has ${shown} twice`, { where: call.source });
  bound[parameter] = value ?? undefined;
}
