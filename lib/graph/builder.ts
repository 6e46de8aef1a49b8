import { Contents, inferNode } from './infer.ts';
import type { Attribute, ConstantTensor, Dim, DType, Graph, Node, ValueInfo } from './types.ts';
import type { NodeSink, Value } from './value.ts';

/** Opset 17 brought LayerNormalization; later ones bring nothing that a policy needs. */
export const OPSET = 17;

/**
 * Writes a graph node by node. Shapes and types are inferred as it goes, so that mistakes show where they are made
 * and reverse mode knows what was broadcast.
 */
export class GraphBuilder implements NodeSink {
  readonly #graph: Graph;
  readonly #contents = new Contents();
  readonly #constants = new Map<string, string>();
  readonly #prefix: string;
  #count = 0;

  /** @param prefix begins the names that the builder makes up */
  constructor(name: string, opset: number = OPSET, prefix = '') {
    this.#prefix = prefix;
    this.#graph = {
      name,
      opset,
      inputs: [],
      outputs: [],
      initializers: new Map(),
      nodes: [],
      values: new Map(),
      metadata: new Map(),
      source: name,
    };
  }

  #value(info: ValueInfo): Value {
    this.#graph.values.set(info.name, info);
    return { ...info, builder: this };
  }

  input(name: string, dtype: DType, shape: Dim[] | null): Value {
    this.#graph.inputs.push({ name, dtype, shape });
    return this.#value({ name, dtype, shape });
  }

  /** A named tensor with values: a weight, or anything that must keep its name. */
  initializer(name: string, tensor: ConstantTensor): Value {
    if (this.#graph.initializers.has(name)) throw new RangeError(`there are two tensors named '${name}'`);
    this.#graph.initializers.set(name, tensor);
    this.#contents.ofConstant(name, tensor);
    return this.#value({ name, dtype: tensor.dtype, shape: tensor.shape });
  }

  /** A constant; small equal ones are shared. */
  constant(tensor: ConstantTensor, name?: string): Value {
    if (name) return this.initializer(name, tensor);
    const key = tensor.data.length <= 64 ? `${tensor.dtype}[${tensor.shape}]=${tensor.data}` : null;
    const known = key ? this.#constants.get(key) : undefined;
    if (known) return { ...this.#graph.values.get(known)!, builder: this };
    const value = this.initializer(this.#fresh('constant'), tensor);
    if (key) this.#constants.set(key, value.name);
    return value;
  }

  emit(
    op: string,
    inputs: readonly (Value | null)[],
    attributes: Record<string, Attribute> = {},
    outputs = 1,
    name = this.#fresh(op),
  ): Value[] {
    const names = Array.from({ length: outputs }, (_, i) => (outputs === 1 ? `${name}:0` : `${name}:${i}`));
    return this.copy({
      op,
      domain: '',
      name,
      inputs: inputs.map((input) => input?.name ?? ''),
      outputs: names,
      attributes,
    });
  }

  /** Adds a node as it is; its inputs must be there already. */
  copy(node: Node): Value[] {
    this.#graph.nodes.push(node);
    const scope = {
      opset: this.#graph.opset,
      value: (name: string) => this.#graph.values.get(name) ?? null,
      constant: (name: string) => this.#graph.initializers.get(name) ?? null,
      contents: this.#contents,
    };
    return inferNode(node, scope).map(({ dtype, shape, contents }, index) => {
      const output = node.outputs[index]!;
      this.#contents.set(output, contents);
      return this.#value({ name: output, dtype, shape });
    });
  }

  /** States the values of an integer input, so that shapes made from it can be inferred. */
  know(value: Value, contents: Dim[]): Value {
    this.#contents.set(value.name, contents);
    return value;
  }

  contentsOf(value: ValueInfo): Dim[] | null {
    return this.#contents.get(value.name);
  }

  /** Makes a value an output of the graph, under another name if one is given. */
  output(value: Value, name: string = value.name): void {
    if (name === value.name) {
      this.#graph.outputs.push({ name, dtype: value.dtype, shape: value.shape });
      return;
    }
    this.copy({ op: 'Identity', domain: '', name, inputs: [value.name], outputs: [name], attributes: {} });
    this.#graph.outputs.push({ name, dtype: value.dtype, shape: value.shape });
  }

  describe(key: string, value: string): void {
    this.#graph.metadata.set(key, value);
  }

  get graph(): Graph {
    return this.#graph;
  }

  get opset(): number {
    return this.#graph.opset;
  }

  #fresh(op: string): string {
    this.#count++;
    return `${this.#prefix}${op}_${this.#count}`;
  }
}
