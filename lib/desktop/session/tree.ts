import type { AccessibleNode } from '../../guest/guest.ts';
import { WINDOW_COLUMNS, WINDOW_ROWS } from '../apps/app.ts';
import { CELL, HEIGHT, WIDTH } from '../screen/cells.ts';
import type { Widget } from '../ui/widget.ts';
import type { Layer } from './layers.ts';

/** Whether a click at the centre of a widget reaches it. */
type Reaches = (widget: Widget) => boolean;

/** The accessibility tree of what is on the screen: the widgets themselves, in the order in which they are drawn. */
export function accessibilityTree(layers: Layer[], reaches: Reaches): AccessibleNode {
  const top = layers.findLast((layer) => layer.kind === 'window')?.window;
  const children: AccessibleNode[] = [];
  const frames = new Map<unknown, AccessibleNode>();
  for (const layer of layers) {
    if (layer.kind === 'desktop') continue;
    const behind = layer.kind === 'window' && layer.window !== top;
    const reachable: Reaches = behind ? () => false : reaches;
    const nodes = layer.widgets.filter((w) => !w.hidden).map((w) => nodeOf(w, reachable));
    if (layer.kind === 'dock') {
      children.push({ role: 'panel', name: 'Dock', states: ['enabled', 'showing'], children: nodes });
    } else if (layer.kind === 'window' && layer.window) {
      const { program, app, x, y } = layer.window;
      const states = ['enabled', ...(layer.window === top ? ['active', 'showing'] : [])];
      const bounds = { x: x * CELL, y: y * CELL, width: WINDOW_COLUMNS * CELL, height: WINDOW_ROWS * CELL };
      const frame: AccessibleNode = { role: 'frame', name: app.title, bounds, states, children: nodes };
      frames.set(layer.window, frame);
      children.push({ role: 'application', name: program.application, states, children: [frame] });
    } else {
      const owner = frames.get(layer.window)?.children ?? children;
      owner.push(groupOf(layer, nodes));
    }
  }
  const bounds = { x: 0, y: 0, width: WIDTH, height: HEIGHT };
  return { role: 'desktop-frame', name: 'main', bounds, states: ['enabled', 'showing'], children };
}

function groupOf(layer: Layer, nodes: AccessibleNode[]): AccessibleNode {
  if (layer.kind === 'popup') return { role: 'popup-menu', name: '', states: ['enabled', 'showing'], children: nodes };
  // The title of a dialog is its first label.
  return {
    role: 'dialog',
    name: nodes[0]?.name ?? '',
    states: ['enabled', 'showing', 'modal'],
    children: nodes.slice(1),
  };
}

function nodeOf(widget: Widget, reaches: Reaches): AccessibleNode {
  const states = ['enabled'];
  if (widget.checked) states.push('checked');
  if (widget.selected) states.push('selected');
  if (widget.focused) states.push('focused');
  const node: AccessibleNode = { role: widget.role, name: widget.name, states, children: [] };
  if (widget.text !== undefined) node.text = widget.text;
  if (widget.h === 0) return node;
  node.bounds = { x: widget.x * CELL, y: widget.y * CELL, width: widget.w * CELL, height: widget.h * CELL };
  if (reaches(widget)) states.push('showing');
  return node;
}
