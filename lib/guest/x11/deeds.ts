import { DartError } from '../../errors.ts';
import { type Action, WHEEL_CLICKS } from '../guest.ts';
import { isKey, keyName } from '../keys.ts';

/** A small deed of the display helper (`dart_x11/display.py`): its name and arguments. */
export type Deed = readonly [name: string, ...arguments: (string | number | boolean)[]];

/** How long a drag takes, s: programs that look at the pointer now and then must see it on its way, and at its end. */
const DRAG_SECONDS = 0.3;
const DROP_SECONDS = 0.1;
const CLICKS: Readonly<Record<string, [button: string, times: number]>> = {
  click: ['left', 1],
  double_click: ['left', 2],
  triple_click: ['left', 3],
  right_click: ['right', 1],
  middle_click: ['middle', 1],
};
const WHEEL = { up: 'up', down: 'down', left: 'wheel_left', right: 'wheel_right' } as const;

/**
 * What an action is made of. Empty for `finished` and `fail`, which end the episode in the runner, and for `wait`,
 * which nobody's hands are needed for.
 * @throws DartError where it names a key that there is not.
 */
export function deedsOf(action: Action): Deed[] {
  switch (action.type) {
    case 'click':
    case 'double_click':
    case 'triple_click':
    case 'right_click':
    case 'middle_click':
      return [
        ['move', action.x, action.y],
        ['click', ...CLICKS[action.type]!],
      ];
    case 'move':
      return [['move', action.x, action.y]];
    case 'mouse_down':
      return [['button', action.button, true]];
    case 'mouse_up':
      return [['button', action.button, false]];
    case 'drag':
      return [
        ['move', action.x, action.y],
        ['button', 'left', true],
        ['move', action.to_x, action.to_y, DRAG_SECONDS],
        ['pause', DROP_SECONDS],
        ['button', 'left', false],
      ];
    case 'scroll': {
      const { x, y, direction, amount = WHEEL_CLICKS } = action;
      const place: Deed[] = x === undefined || y === undefined ? [] : [['move', x, y]];
      return [...place, ['click', WHEEL[direction], amount]];
    }
    case 'type':
      return action.text === '' ? [] : [['type', action.text]];
    case 'hotkey':
      return [['hotkey', ...action.keys.map(keyOf)]];
    case 'key_down':
      return [['key', keyOf(action.key), true]];
    case 'key_up':
      return [['key', keyOf(action.key), false]];
    case 'wait':
    case 'finished':
    case 'fail':
      return [];
  }
}

function keyOf(key: string): string {
  const name = keyName(key);
  if (isKey(name)) return name;
  throw new DartError(`there is no key ${JSON.stringify(key)}`, { hint: 'enter, tab, ctrl, f5, or a character' });
}
