/** Names that models, UI-TARS, pyautogui and X use for a key → pyautogui's shortest. */
const ALIASES: Readonly<Record<string, string>> = {
  return: 'enter',
  kp_enter: 'enter',
  escape: 'esc',
  del: 'delete',
  ins: 'insert',
  back_space: 'backspace',
  spacebar: 'space',
  control: 'ctrl',
  option: 'alt',
  cmd: 'win',
  command: 'win',
  super: 'win',
  meta: 'win',
  windows: 'win',
  arrowup: 'up',
  arrowdown: 'down',
  arrowleft: 'left',
  arrowright: 'right',
  arrow_up: 'up',
  arrow_down: 'down',
  arrow_left: 'left',
  arrow_right: 'right',
  pgup: 'pageup',
  page_up: 'pageup',
  prior: 'pageup',
  pgdn: 'pagedown',
  page_down: 'pagedown',
  caps: 'capslock',
  caps_lock: 'capslock',
  num_lock: 'numlock',
  scroll_lock: 'scrolllock',
  print_screen: 'printscreen',
  prntscrn: 'printscreen',
  prtsc: 'printscreen',
  prtscr: 'printscreen',
  menu: 'apps',
  plus: '+',
  minus: '-',
  ' ': 'space',
  '\n': 'enter',
  '\t': 'tab',
};

/** `ctrlleft`, `leftctrl` and `control_l` are all the one key `ctrl`. */
const MODIFIER = '(ctrl|control|alt|option|shift|win|windows|super|meta|cmd|command)';
const SIDED = new RegExp(`^(?:${MODIFIER}_?(?:left|right|l|r)|(?:left|right)_?${MODIFIER})$`);

/** pyautogui's keys beside printable characters and F1 to F24, by the names that `keyName` gives. */
const NAMED = new Set(
  (
    'add alt apps backspace browserback browserfavorites browserforward browserhome browserrefresh browsersearch ' +
    'browserstop capslock clear convert ctrl decimal delete divide down end enter esc execute final fn hanguel ' +
    'hangul hanja help home insert junja kana kanji launchapp1 launchapp2 launchmail launchmediaselect left ' +
    'modechange multiply nexttrack nonconvert num0 num1 num2 num3 num4 num5 num6 num7 num8 num9 numlock pagedown ' +
    'pageup pause playpause prevtrack print printscreen right scrolllock select separator shift sleep space stop ' +
    'subtract tab up volumedown volumemute volumeup win yen'
  ).split(' '),
);
const FUNCTION_KEY = /^f(?:[1-9]|1\d|2[0-4])$/;
const MAX_NAME = 20;

/** The one name of a key, whatever it was called: `Return` → `enter`, `Page_Down` → `pagedown`. Characters keep their case. */
export function keyName(key: string): string {
  if (key.length > MAX_NAME) return key;
  const lower = key.length === 1 ? key : key.toLowerCase();
  const sided = SIDED.exec(lower);
  const name = sided ? (sided[1] ?? sided[2])! : lower;
  return Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
}

/** Whether a desktop has a key of that name, as `keyName` gives it: any one character, or a name that pyautogui knows. */
export function isKey(name: string): boolean {
  return NAMED.has(name) || FUNCTION_KEY.test(name) || [...name.slice(0, 3)].length === 1;
}
