import { KERNELS } from './kernels.testing.ts';
import type { Plain } from './plain.testing.ts';
import { plainOf } from './plain.testing.ts';
import type { Graph } from './types.ts';

/** Runs a graph node by node with the reference kernels. Slow and simple: what onnxruntime is compared with. */
export function evaluate(graph: Graph, feeds: ReadonlyMap<string, Plain>): Map<string, Plain> {
  const values = new Map(feeds);
  for (const [name, tensor] of graph.initializers) if (!values.has(name)) values.set(name, plainOf(tensor));
  for (const node of graph.nodes) {
    const kernel = KERNELS[node.op];
    if (!kernel) throw new Error(`no reference kernel for ${node.op}`);
    const inputs = node.inputs.map((name) => (name === '' ? null : values.get(name)!));
    kernel(inputs, node).forEach((result, i) => {
      const name = node.outputs[i];
      if (name) values.set(name, result);
    });
  }
  return values;
}
