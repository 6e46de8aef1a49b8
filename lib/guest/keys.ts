/** Names that models, UI-TARS, pyautogui and X use for a key → pyautogui's shortest. */
const ALIASES: Readonly<Record<string, string>> = {
  return: 'enter',
  kp_enter: 'enter',
  escape: 'esc',
  del: 'delete',
  ins: 'insert',
  spacebar: 'space',
  control: 'ctrl',
  ctrlleft: 'ctrl',
  ctrlright: 'ctrl',
  altleft: 'alt',
  altright: 'alt',
  option: 'alt',
  shiftleft: 'shift',
  shiftright: 'shift',
  cmd: 'win',
  command: 'win',
  super: 'win',
  meta: 'win',
  windows: 'win',
  winleft: 'win',
  winright: 'win',
  arrowup: 'up',
  arrowdown: 'down',
  arrowleft: 'left',
  arrowright: 'right',
  pgup: 'pageup',
  page_up: 'pageup',
  pgdn: 'pagedown',
  page_down: 'pagedown',
  ' ': 'space',
  '\n': 'enter',
  '\t': 'tab',
};

/** The one name of a key, whatever it was called: `Return` → `enter`, `Page_Down` → `pagedown`. Characters keep their case. */
export function keyName(key: string): string {
  const lower = key.length === 1 ? key : key.toLowerCase();
  return Object.hasOwn(ALIASES, lower) ? ALIASES[lower]! : lower;
}
