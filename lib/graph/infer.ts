import type { InferContext, Inferred } from './operators/operator.ts';
import { operatorOf } from './operators/registry.ts';
import { foldArithmetic } from './operators/still.ts';
import type { ConstantTensor, Dim, Graph, Node, ValueInfo } from './types.ts';
import { integersOf } from './types.ts';

/** Values of integer tensors that are known before the graph runs. */
export class Contents {
  readonly #known = new Map<string, Dim[]>();

  ofConstant(name: string, tensor: ConstantTensor): void {
    if (tensor.dtype !== 'int64' && tensor.dtype !== 'int32') return;
    if (tensor.shape.length <= 1 && tensor.data.length <= 64) this.#known.set(name, integersOf(tensor));
  }

  set(name: string, values: Dim[] | null | undefined): void {
    if (values) this.#known.set(name, values);
  }

  get(name: string | undefined): Dim[] | null {
    return name ? (this.#known.get(name) ?? null) : null;
  }
}

export interface Scope {
  opset: number;
  value(name: string): ValueInfo | null;
  constant(name: string): ConstantTensor | null;
  contents: Contents;
}

function fold(node: Node, context: InferContext): Dim[] | null {
  if (!['Add', 'Sub', 'Mul', 'Div'].includes(node.op)) return null;
  const [a, b] = [context.contents(0), context.contents(1)];
  return a && b ? foldArithmetic(node.op, a, b) : null;
}

/** Types and shapes of a node's outputs; nulls where the operator is unknown or its inputs do not tell. */
export function inferNode(node: Node, scope: Scope): Inferred[] {
  const blank = node.outputs.map((): Inferred => ({ dtype: null, shape: null }));
  const operator = operatorOf(node.op, node.domain);
  if (!operator) return blank;
  const context: InferContext = {
    node,
    opset: scope.opset,
    inputs: node.inputs.map((name) => (name ? scope.value(name) : null)),
    constant: (index) => scope.constant(node.inputs[index] ?? ''),
    contents: (index) => scope.contents.get(node.inputs[index]),
  };
  const results = operator.infer(context);
  const [first] = results;
  if (first && !first.contents) first.contents = fold(node, context);
  return node.outputs.map((_, index) => results[index] ?? { dtype: null, shape: null });
}

/** Constants that stand in a node instead of among the initializers. */
function constantOf(node: Node): ConstantTensor | null {
  const { value } = node.attributes;
  return node.op === 'Constant' && value && 'tensor' in value ? value.tensor : null;
}

/** Fills `graph.values` for every tensor; a shape that the file states is kept. */
export function inferGraph(graph: Graph): void {
  const constants = new Map(graph.initializers);
  const contents = new Contents();
  for (const [name, tensor] of graph.initializers) {
    graph.values.set(name, { name, dtype: tensor.dtype, shape: tensor.shape });
    contents.ofConstant(name, tensor);
  }
  const scope: Scope = {
    opset: graph.opset,
    value: (name) => graph.values.get(name) ?? { name, dtype: null, shape: null },
    constant: (name) => constants.get(name) ?? null,
    contents,
  };
  for (const node of graph.nodes) {
    const constant = constantOf(node);
    if (constant) {
      constants.set(node.outputs[0]!, constant);
      contents.ofConstant(node.outputs[0]!, constant);
    }
    inferNode(node, scope).forEach((result, index) => {
      const name = node.outputs[index]!;
      contents.set(name, result.contents);
      const stated = graph.values.get(name);
      graph.values.set(name, { name, dtype: stated?.dtype ?? result.dtype, shape: stated?.shape ?? result.shape });
    });
  }
}
