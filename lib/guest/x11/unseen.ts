import type { AccessibleNode, Size } from '../guest.ts';
import type { X11Window } from './windows.ts';

/**
 * The tree with its own place, and with the windows of programs that tell the accessibility bus nothing: these have a
 * title, a class and a place, and nothing inside.
 */
export function withUnseenWindows(root: AccessibleNode, windows: readonly X11Window[], screen: Size): AccessibleNode {
  const named = new Set(root.children.flatMap(({ children }) => children.map(({ name }) => name)));
  const unseen = windows.filter(({ title }) => !named.has(title)).map(applicationOf);
  return { ...root, bounds: { x: 0, y: 0, ...screen }, children: [...root.children, ...unseen] };
}

function applicationOf({ title, wmClass, active, x, y, width, height }: X11Window): AccessibleNode {
  const states = active ? ['active', 'showing', 'visible'] : ['showing', 'visible'];
  const frame = { role: 'frame', name: title, bounds: { x, y, width, height }, states, children: [] };
  return { role: 'application', name: wmClass.split('.')[0] ?? '', states: [], children: [frame] };
}
