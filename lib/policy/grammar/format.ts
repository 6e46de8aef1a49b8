import type { Action } from '../../guest/guest.ts';

/**
 * An action as UI-TARS writes it, coordinates in absolute pixels: `click(start_box='(52,36)')`.
 * Reading it back with `parseReply` (absolute) gives the same action.
 */
export function formatAction(action: Action): string {
  switch (action.type) {
    case 'click':
      return `click(${start(action)})`;
    case 'double_click':
      return `left_double(${start(action)})`;
    case 'right_click':
      return `right_single(${start(action)})`;
    case 'triple_click':
    case 'middle_click':
    case 'move':
      return `${action.type}(${start(action)})`;
    case 'mouse_down':
    case 'mouse_up':
      return `${action.type}(button='${action.button}')`;
    case 'drag':
      return `drag(${start(action)}, end_box='(${action.to_x},${action.to_y})')`;
    case 'scroll':
      return `scroll(${scrollArguments(action)})`;
    case 'type':
      return `type(content=${quoted(action.text)})`;
    case 'hotkey':
      return `hotkey(key=${quoted(keysText(action.keys))})`;
    case 'key_down':
      return `keydown(key=${quoted(action.key)})`;
    case 'key_up':
      return `keyup(key=${quoted(action.key)})`;
    case 'wait':
      return action.ms === undefined ? 'wait()' : `wait(ms=${action.ms})`;
    case 'finished':
      return action.text === undefined ? 'finished()' : `finished(content=${quoted(action.text)})`;
    case 'fail':
      return action.reason === undefined ? 'fail()' : `fail(reason=${quoted(action.reason)})`;
  }
}

function start(at: { x: number; y: number }): string {
  return `start_box='(${at.x},${at.y})'`;
}

/** Keys with blanks between; a plus that another key follows is spelled out, since `ctrl + s` has two keys. */
function keysText(keys: readonly string[]): string {
  return keys.map((key, index) => (key === '+' && index < keys.length - 1 ? 'plus' : key)).join(' ');
}

function scrollArguments(action: Extract<Action, { type: 'scroll' }>): string {
  const place = action.x === undefined || action.y === undefined ? [] : [start({ x: action.x, y: action.y })];
  const amount = action.amount === undefined ? [] : [`amount=${action.amount}`];
  return [...place, `direction='${action.direction}'`, ...amount].join(', ');
}

const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', "'": "\\'", '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function quoted(text: string): string {
  return `'${text.replace(/[\\'\n\r\t]/g, (character) => ESCAPED[character]!)}'`;
}
