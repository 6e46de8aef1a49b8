import { type Action, WHEEL_CLICKS } from './guest.ts';
import { keyName } from './keys.ts';

export {
  MAX_ACTIONS,
  type PointerPlace,
  PYAUTOGUI_CALLS,
  type PyautoguiOptions,
  parsePyautogui,
} from './pyautogui_parse.ts';

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
