import { describe, expect, it } from 'vitest';
import { isKey, keyName } from './keys.ts';

describe('keyName', () => {
  it.each([
    ['Return', 'enter'],
    ['KP_Enter', 'enter'],
    ['ctrlleft', 'ctrl'],
    ['Windows', 'win'],
    ['spacebar', 'space'],
    [' ', 'space'],
    ['\n', 'enter'],
    ['Page_Down', 'pagedown'],
    ['F5', 'f5'],
    ['S', 'S'],
    ['constructor', 'constructor'],
  ])('%j is %s', (name, expected) => expect(keyName(name)).toBe(expected));
});

describe('keyName: sides and other spellings', () => {
  it.each([
    ['Control_L', 'ctrl'],
    ['shiftright', 'shift'],
    ['leftwin', 'win'],
    ['super_l', 'win'],
    ['optionleft', 'alt'],
    ['prtsc', 'printscreen'],
    ['Caps_Lock', 'capslock'],
    ['plus', '+'],
    ['left', 'left'],
    ['x'.repeat(100_000), 'x'.repeat(100_000)],
  ])('%.20s is %.20s', (name, expected) => expect(keyName(name)).toBe(expected));
});

describe('isKey', () => {
  it.each(['a', 'A', '+', 'é', '🙂', 'enter', 'f1', 'f24', 'ctrl', 'volumeup'])('%s', (key) =>
    expect(isKey(key)).toBe(true),
  );
  it.each(['', 'f25', 'banana', 'ab', '🙂🙂', 'constructor'])('not %j', (key) => expect(isKey(key)).toBe(false));
});
