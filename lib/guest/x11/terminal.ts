import type { AccessibleNode } from '../guest.ts';

/** The text of the terminal that has the focus, else null. Terminals that the accessibility tree does not show have none. */
export function focusedTerminal(node: AccessibleNode): string | null {
  if (node.role === 'terminal' && node.states.includes('focused') && node.text !== undefined)
    return node.text.trimEnd();
  for (const child of node.children) {
    const text = focusedTerminal(child);
    if (text !== null) return text;
  }
  return null;
}
