import { describe, expect, it } from 'vitest';
import { keyName } from './keys.ts';

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
