import { DartError } from '../errors.ts';
import type { AccessibleNode } from './guest.ts';

const NAMESPACE = 'https://accessibility.ubuntu.example.org/ns';
const PREFIXES = { st: 'state', cp: 'component', attr: 'attributes', txt: 'text', val: 'value', act: 'action' };

/**
 * The accessibility tree as OSWorld's server writes it for Ubuntu (reference/osworld.md §1): one element a node, named
 * by its role; `st:` states, `cp:` place, the text as the element's text.
 */
export function accessibilityXml(root: AccessibleNode): string {
  const declarations = Object.entries(PREFIXES).map(([prefix, name]) => ` xmlns:${prefix}="${NAMESPACE}/${name}"`);
  return printNode(root, declarations.join(''));
}

function printNode(node: AccessibleNode, declarations = ''): string {
  const role = /^[A-Za-z_][\w.-]*$/.test(node.role) ? node.role : 'unknown';
  const states = node.states.map((state) => ` st:${state}="true"`).join('');
  const inside = escapeXml(node.text ?? '') + node.children.map((child) => printNode(child)).join('');
  const start = `<${role}${declarations} name="${escapeXml(node.name)}"${printAttributes(node)}${states}${printPlace(node)}`;
  return inside === '' && node.text === undefined ? `${start} />` : `${start}>${inside}</${role}>`;
}

function printAttributes({ attributes = {} }: AccessibleNode): string {
  const named = Object.entries(attributes).filter(([name]) => /^[A-Za-z_][\w.-]*$/.test(name));
  return named.map(([name, value]) => ` attr:${name}="${escapeXml(value)}"`).join('');
}

function printPlace({ bounds }: AccessibleNode): string {
  if (!bounds) return '';
  return ` cp:screencoord="(${bounds.x}, ${bounds.y})" cp:size="(${bounds.width}, ${bounds.height})"`;
}

function escapeXml(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return (
    text
      .replace(/[&<>"]/g, (char) => names[char] ?? char)
      .replace(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`)
      // XML 1.0 has no other control characters at all.
      .replace(/\p{Cc}/gu, '')
  );
}

const TOKEN =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([\w.:-]+)((?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*)\s*(\/?)>|([^<]+)/y;
const ATTRIBUTE = /([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;

/** Reads such a tree. Throws a DartError naming the place where the XML breaks. */
export function parseAccessibilityXml(xml: string, where = 'accessibility tree'): AccessibleNode {
  const top: AccessibleNode = { role: '', name: '', states: [], children: [] };
  const open: AccessibleNode[] = [top];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < xml.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(xml);
    if (!match) throw new DartError(`not XML at character ${at}`, { where });
    const [, closing, name, attributes = '', empty, text] = match;
    const parent = open.at(-1) ?? top;
    if (text !== undefined) addText(parent, text);
    if (name === undefined) continue;
    if (closing) {
      if (open.length < 2 || parent.role !== name) throw new DartError(`</${name}> closes nothing`, { where });
      open.pop();
      // A parent whose text is empty has none: its end tag was for its children.
      if (parent.text === '' && parent.children.length > 0) delete parent.text;
      continue;
    }
    const node = parseNode(name, attributes, !empty);
    parent.children.push(node);
    if (!empty) open.push(node);
  }
  const root = top.children[0];
  if (!root || open.length > 1) throw new DartError('the XML ends before its root element does', { where });
  return root;
}

function addText(node: AccessibleNode, text: string): void {
  const value = unescapeXml(text);
  if (value.trim() !== '' || node.text) node.text = (node.text ?? '') + value;
}

function parseNode(role: string, source: string, hasText: boolean): AccessibleNode {
  const node: AccessibleNode = { role, name: '', states: [], children: [] };
  if (hasText) node.text = '';
  const place = new Map<string, number[]>();
  for (const [, key = '', double, single] of source.matchAll(ATTRIBUTE)) {
    const value = unescapeXml(double ?? single ?? '');
    if (key === 'name') node.name = value;
    else if (key.startsWith('st:') && value === 'true') node.states.push(key.slice(3));
    else if (key.startsWith('attr:')) node.attributes = { ...node.attributes, [key.slice(5)]: value };
    else if (key.startsWith('cp:')) place.set(key, [...value.matchAll(/-?\d+/g)].map(Number));
  }
  const [x, y] = place.get('cp:screencoord') ?? [];
  const [width, height] = place.get('cp:size') ?? [];
  if (x !== undefined && y !== undefined && width !== undefined && height !== undefined) {
    node.bounds = { x, y, width, height };
  }
  return node;
}

function unescapeXml(text: string): string {
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    const code = hex ? Number.parseInt(hex, 16) : decimal ? Number(decimal) : Number.NaN;
    if (!Number.isNaN(code)) return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    return names[name ?? ''] ?? whole;
  });
}
