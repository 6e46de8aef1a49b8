import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Action } from '../../guest/guest.ts';
import { formatAction } from './format.ts';
import { parseReply } from './parse.ts';

const screen = { width: 160, height: 120 };

const x = fc.integer({ min: 0, max: 159 });
const y = fc.integer({ min: 0, max: 119 });
const at = { x, y };
const button = fc.constantFrom('left' as const, 'middle' as const, 'right' as const);
const direction = fc.constantFrom('up' as const, 'down' as const, 'left' as const, 'right' as const);
const key = fc.constantFrom(
  'ctrl',
  'shift',
  'alt',
  'win',
  'enter',
  'esc',
  'pageup',
  'f5',
  's',
  '+',
  '-',
  '1',
  "'",
  '\\',
);
const text = fc.string({ unit: 'binary', maxLength: 30 });
const pointers = ['click', 'double_click', 'triple_click', 'right_click', 'middle_click', 'move'] as const;

const anyAction: fc.Arbitrary<Action> = fc.oneof(
  ...pointers.map((type) => fc.record({ type: fc.constant(type), ...at })),
  fc.record({ type: fc.constant('mouse_down' as const), button }),
  fc.record({ type: fc.constant('mouse_up' as const), button }),
  fc.record({ type: fc.constant('drag' as const), ...at, to_x: x, to_y: y }),
  fc.record({ type: fc.constant('scroll' as const), direction }),
  fc.record({ type: fc.constant('scroll' as const), ...at, direction, amount: fc.integer({ min: 1, max: 50 }) }),
  // No key gives a NUL.
  fc.record({ type: fc.constant('type' as const), text: text.map((typed) => typed.replaceAll('\0', '')) }),
  fc.record({ type: fc.constant('hotkey' as const), keys: fc.array(key, { minLength: 1, maxLength: 4 }) }),
  fc.record({ type: fc.constant('key_down' as const), key }),
  fc.record({ type: fc.constant('key_up' as const), key }),
  fc.constant({ type: 'wait' as const }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.double({ min: 0, max: 60_000, noNaN: true }) }),
  fc.record({ type: fc.constant('finished' as const) }),
  fc.record({ type: fc.constant('finished' as const), text }),
  fc.record({ type: fc.constant('fail' as const), reason: text }),
);

describe('formatAction', () => {
  it('writes UI-TARS text', () => {
    expect(formatAction({ type: 'click', x: 52, y: 36 })).toBe("click(start_box='(52,36)')");
    expect(formatAction({ type: 'drag', x: 1, y: 2, to_x: 3, to_y: 4 })).toBe(
      "drag(start_box='(1,2)', end_box='(3,4)')",
    );
    expect(formatAction({ type: 'hotkey', keys: ['ctrl', 's'] })).toBe("hotkey(key='ctrl s')");
    expect(formatAction({ type: 'type', text: "a'b\n" })).toBe(String.raw`type(content='a\'b\n')`);
  });

  it('is read back as the same action, alone and in a row', () => {
    fc.assert(
      fc.property(fc.array(anyAction, { minLength: 1, maxLength: 3 }), (actions) => {
        const reply = `Thought: so.\nAction: ${actions.map(formatAction).join('\n\n')}`;
        const parsed = parseReply(reply, { screen, coordinates: 'absolute' });
        expect(parsed.parseError).toBeNull();
        expect(JSON.parse(JSON.stringify(parsed.actions))).toEqual(JSON.parse(JSON.stringify(actions)));
      }),
      { numRuns: 1000 },
    );
  });
});
