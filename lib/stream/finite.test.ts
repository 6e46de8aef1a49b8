import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordLine, wellFormedJson } from './finite.ts';

describe('wellFormedJson', () => {
  it('has U+FFFD in place of half a surrogate pair, and nothing else changes', () => {
    const text = 'a\ud83d\ude00 b\ud83d c\udc00 \\ud83d "\ud800\\"';
    const written = wellFormedJson({ text, '\udfff': '\\\ud800' });
    expect(JSON.parse(written)).toEqual({ text: 'a😀 b\ufffd c\ufffd \\ud83d "\ufffd\\"', '\ufffd': '\\\ufffd' });
  });

  it('comes out of any other program as it went in', () => {
    const text = fc.array(fc.constantFrom('\ud800', '\udc00', '\\', 'ud83d', '\\ud8', '"', 'é', '😀', '\n'));
    fc.assert(
      fc.property(
        text.map((parts) => parts.join('')),
        (value) => {
          const written = recordLine({ type: 'event', text: value } as { type: string });
          // What jq refuses: an escape of half a pair. What goes through UTF-8 changed: the half itself.
          expect(Buffer.from(written).toString()).toBe(written);
          const read = JSON.parse(written) as { text: string };
          expect(read.text).toBe(value.toWellFormed());
          expect(JSON.stringify(read)).toBe(written);
        },
      ),
    );
  });
});

describe('recordLine', () => {
  it('refuses NaN and infinities, and names the field', () => {
    expect(() => recordLine({ type: 'metric', list: [null, { x: Number.NaN }] } as { type: string })).toThrow(
      'the metric record has NaN in list[1].x',
    );
    expect(recordLine({ type: 'metric', text: 'null', x: null } as { type: string })).toBe(
      '{"type":"metric","text":"null","x":null}',
    );
  });
});
