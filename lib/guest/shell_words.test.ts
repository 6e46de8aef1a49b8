import { expect, it } from 'vitest';
import { shellWords } from './shell_words.ts';

it.each([
  ['', []],
  ['  ls   -l\t/tmp\n', ['ls', '-l', '/tmp']],
  ['echo "a  b" \'c "d"\'', ['echo', 'a  b', 'c "d"']],
  ['a"b"c\'d\'e', ['abcde']],
  ["x '' y", ['x', '', 'y']],
  ['a\\ b \\"c', ['a b', '"c']],
  ['"a \\" b \\\\ \\n $HOME"', ['a " b \\ \\n $HOME']],
  ['python -c "import pyautogui; pyautogui.press(\'a\')"', ['python', '-c', "import pyautogui; pyautogui.press('a')"]],
  ['a "b', null],
  ["it's", null],
  ['end\\', null],
])('splits %j as a shell does', (line, words) => expect(shellWords(line)).toEqual(words));
