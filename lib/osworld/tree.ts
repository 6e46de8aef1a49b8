import type { AccessibleNode } from '../guest/guest.ts';

/** The node and everything below it, in document order. */
export function* nodesOf(node: AccessibleNode): Generator<AccessibleNode> {
  yield node;
  for (const child of node.children) yield* nodesOf(child);
}
