import type { AccessibleNode } from '../guest/guest.ts';
import { EmbeddedDesktop } from './desktop.ts';

export const DOCUMENTS = '/home/user/Documents';

/** All nodes of a tree, in order. */
export function nodesOf(root: AccessibleNode): AccessibleNode[] {
  return [root, ...root.children.flatMap(nodesOf)];
}

/** A person at the desktop: works only through what the accessibility tree shows, as experts do. */
export class Hand {
  readonly desktop: EmbeddedDesktop;

  constructor(seed = 1) {
    this.desktop = new EmbeddedDesktop(seed);
  }

  find(role: string, name: string): AccessibleNode {
    const nodes = nodesOf(this.desktop.accessibility());
    const found = nodes.find((n) => n.role === role && n.name === name && n.states.includes('showing'));
    if (found?.bounds) return found;
    const there = nodes.filter((n) => n.role === role).map((n) => n.name);
    throw new Error(`no ${role} "${name}" on the screen; there are: ${there.join(', ')}`);
  }

  has(role: string, name: string): boolean {
    return nodesOf(this.desktop.accessibility()).some(
      (n) => n.role === role && n.name === name && n.states.includes('showing'),
    );
  }

  states(role: string, name: string): string[] {
    return this.find(role, name).states;
  }

  click(role: string, name: string): this {
    return this.press('click', role, name);
  }

  double(role: string, name: string): this {
    return this.press('double_click', role, name);
  }

  right(role: string, name: string): this {
    return this.press('right_click', role, name);
  }

  /** Opens a menu of the menu bar and clicks one of its items. */
  menu(menu: string, item: string): this {
    return this.click('menu', menu).click('menu-item', item);
  }

  /** Opens the context menu of something and clicks one of its items. */
  context(role: string, name: string, item: string): this {
    return this.right(role, name).click('menu-item', item);
  }

  type(text: string): this {
    this.desktop.act({ type: 'type', text });
    return this;
  }

  keys(...keys: string[]): this {
    this.desktop.act({ type: 'hotkey', keys });
    return this;
  }

  open(path: string): this {
    if (!this.desktop.openFile(path)) throw new Error(`no file ${path}`);
    return this;
  }

  launch(...argv: string[]): this {
    if (!this.desktop.launch(argv)) throw new Error(`no program ${argv[0]}`);
    return this;
  }

  write(path: string, text: string): this {
    this.desktop.vfs.write(path, text);
    return this;
  }

  text(path: string): string | null {
    return this.desktop.vfs.readText(path);
  }

  json(path: string): Record<string, unknown> {
    return JSON.parse(this.text(path) ?? 'null');
  }

  /** Title of the active window. */
  get title(): string {
    const frame = nodesOf(this.desktop.accessibility()).find((n) => n.role === 'frame' && n.states.includes('active'));
    return frame?.name ?? '';
  }

  private press(type: 'click' | 'double_click' | 'right_click', role: string, name: string): this {
    const { bounds } = this.find(role, name);
    if (!bounds) throw new Error(`${role} ${name} has no place`);
    this.desktop.act({ type, x: bounds.x + (bounds.width >> 1), y: bounds.y + (bounds.height >> 1) });
    return this;
  }
}
