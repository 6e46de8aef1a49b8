import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import { accessibilityXml, parseAccessibilityXml } from './accessibility_xml.ts';
import type { AccessibleNode } from './guest.ts';

const node: AccessibleNode = {
  role: 'entry',
  name: 'Name & "more"',
  text: 'a < b\nc',
  bounds: { x: 8, y: 16, width: 40, height: 8 },
  states: ['showing', 'focused'],
  children: [],
};

describe('accessibilityXml', () => {
  it('writes what OSWorld writes', () => {
    const xml = accessibilityXml({ role: 'desktop-frame', name: 'main', states: [], children: [node] });
    expect(xml).toContain('<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"');
    expect(xml).toContain(
      '<entry name="Name &amp; &quot;more&quot;" st:showing="true" st:focused="true" cp:screencoord="(8, 16)" cp:size="(40, 8)">a &lt; b&#10;c</entry>',
    );
  });

  it('keeps what the toolkit says of a node', () => {
    const tree: AccessibleNode = { ...node, attributes: { id: 'To "you"', class: 'pill' } };
    expect(accessibilityXml(tree)).toContain(' attr:id="To &quot;you&quot;" attr:class="pill"');
    expect(parseAccessibilityXml(accessibilityXml(tree))).toEqual(tree);
    expect(accessibilityXml({ ...node, attributes: { 'no name': 'x' } })).not.toContain('no name');
  });

  it('is read back as it was', () => {
    const word = fc.stringMatching(/^[ -~é\n\t]*$/);
    const leaf = fc.record({
      role: fc.constantFrom('push-button', 'entry', 'table-cell'),
      name: word,
      states: fc.uniqueArray(fc.constantFrom('showing', 'checked', 'enabled')),
      bounds: fc.record({ x: fc.nat(99), y: fc.nat(99), width: fc.nat(99), height: fc.nat(99) }),
      children: fc.constant<AccessibleNode[]>([]),
    });
    fc.assert(
      fc.property(fc.array(leaf), (children) => {
        const tree: AccessibleNode = {
          role: 'frame',
          name: 'top',
          states: [],
          children: [{ ...node, text: 'x' }, ...children],
        };
        const read = parseAccessibilityXml(accessibilityXml(tree));
        expect(read.children).toEqual(tree.children);
      }),
    );
  });

  it.each(['', '<a name="x">', '<a></b>', '</a>', '<a><', 'text only'])('refuses %j', (xml) => {
    expect(() => parseAccessibilityXml(xml, 'd1')).toThrow(DartError);
  });
});
