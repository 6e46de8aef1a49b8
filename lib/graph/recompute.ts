import { operatorOf } from './operators/registry.ts';
import type { Graph, Node } from './types.ts';

/** Whether a node's results are computed again in the backward graph (operators/operator.ts). */
export function recomputeOf(node: Node): 'always' | 'cheap' | 'save' {
  return operatorOf(node.op, node.domain)?.recompute ?? 'save';
}

/** Cheap results, kept so far, that follow from what is kept besides, and all on the way to them. */
export function cheapOnes(graph: Graph, kept: ReadonlySet<string>): Set<string> {
  const producers = new Map(graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
  const known = new Map<string, boolean>();
  const available = (name: string): boolean => {
    const node = producers.get(name);
    if (!node || node.op === 'Constant') return true;
    return follows(name, node) || kept.has(name);
  };
  const follows = (name: string, node: Node): boolean => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const answer = recomputeOf(node) !== 'save' && node.inputs.every((input) => input === '' || available(input));
    known.set(name, answer);
    return answer;
  };
  for (const name of kept) follows(name, producers.get(name)!);
  return new Set([...known].flatMap(([name, answer]) => (answer ? [name] : [])));
}
