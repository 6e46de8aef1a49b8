import { DartError } from '../errors.ts';
import { GraphBuilder } from './builder.ts';
import { isFloat } from './elements.ts';
import { add } from './functions.ts';
import { Contents } from './infer.ts';
import type { GradientContext } from './operators/operator.ts';
import { operatorOf } from './operators/registry.ts';
import { cheapOnes, recomputeOf } from './recompute.ts';
import type { ConstantTensor, Dim, Graph, Node } from './types.ts';
import { int64, integersOf } from './types.ts';
import type { Value } from './value.ts';

export interface DifferentiateOptions {
  /** Outputs of the graph that the loss depends on; their gradients are inputs of the backward graph. */
  of: readonly string[];
  /** Initializers or inputs whose gradients are wanted. */
  wrt: readonly string[];
}

export interface Differentiated {
  /**
   * Inputs: `grad/<output>`, each name in `saved`, and those initializers in `wrt` and inputs of the forward graph
   * that are needed. Outputs: `grad/<name>` for each name in `wrt` that the outputs depend on.
   */
  backward: Graph;
  /** Results of forward nodes that the forward graph must hand out. */
  saved: string[];
}

/** The name of the gradient of a tensor, in the backward graph. */
export function gradientName(name: string): string {
  return `grad/${name}`;
}

/**
 * Reverse-mode differentiation of one ONNX graph into another (Griewank and Walther, "Evaluating Derivatives",
 * chapter 3.2): each node, last first, turns the gradients of its outputs into gradients of its inputs; a tensor used
 * several times gets the sum. `graph` gets additional results where the backward pass needs them: statistics of
 * LayerNormalization, shapes that are only known at run time.
 * @throws DartError naming operator, node and file where a gradient cannot be formed
 */
export function differentiate(graph: Graph, options: DifferentiateOptions): Differentiated {
  if (graph.opset < 16) {
    throw new DartError(`opset ${graph.opset} cannot be differentiated`, {
      where: graph.source,
      hint: 'export the policy with opset 17 or later',
    });
  }
  // The first pass only finds out what must be kept; the second computes again what follows cheaply from that.
  const kept = new Reverse(graph, options, null).run().saved;
  return new Reverse(graph, options, cheapOnes(graph, new Set(kept))).run();
}

class Reverse {
  readonly #graph: Graph;
  readonly #builder: GraphBuilder;
  readonly #producers: Map<string, Node>;
  /** Tensors that depend on what is wanted, and through which a gradient therefore has to pass. */
  readonly #active: Set<string>;
  readonly #again: ReadonlySet<string> | null;
  readonly #options: DifferentiateOptions;
  readonly #forward = new Map<string, Value>();
  readonly #grads = new Map<string, Value[]>();
  readonly #saved = new Set<string>();
  readonly #wrt: Set<string>;
  readonly #contents = new Contents();

  constructor(graph: Graph, options: DifferentiateOptions, again: ReadonlySet<string> | null) {
    this.#graph = graph;
    this.#options = options;
    this.#again = again;
    this.#builder = new GraphBuilder(`${graph.name}-backward`, graph.opset, 'backward/');
    this.#producers = new Map(graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)));
    this.#wrt = new Set(options.wrt);
    this.#active = this.#activeValues();
    for (const [name, tensor] of graph.initializers) this.#contents.ofConstant(name, tensor);
    for (const name of options.of) {
      const shape = graph.values.get(name)?.shape ?? null;
      this.#grads.set(name, [this.#builder.input(gradientName(name), 'float32', shape)]);
    }
  }

  #activeValues(): Set<string> {
    const active = new Set(this.#wrt);
    for (const node of this.#graph.nodes) {
      if (!node.inputs.some((name) => active.has(name))) continue;
      // An unknown operator stays active: if a gradient arrives there it must be reported, not lost.
      if (operatorOf(node.op, node.domain)?.gradient === null) continue;
      for (const output of node.outputs) {
        const { dtype } = this.#graph.values.get(output) ?? { dtype: null };
        if (dtype === null || isFloat(dtype)) active.add(output);
      }
    }
    return active;
  }

  run(): Differentiated {
    this.#refuseUnknown();
    for (const node of this.#graph.nodes.toReversed()) this.#visit(node);
    for (const name of this.#options.wrt) {
      const grad = this.#gradOf(name);
      if (grad) this.#builder.output(grad, gradientName(name));
    }
    return { backward: this.#builder.graph, saved: [...this.#saved] };
  }

  /** An operator that is not known leaves all after it without shapes: it is what must be named, not those. */
  #refuseUnknown(): void {
    const leading = new Set(this.#options.of);
    for (const node of this.#graph.nodes.toReversed()) {
      if (!node.outputs.some((output) => leading.has(output))) continue;
      for (const input of node.inputs) leading.add(input);
      const known = operatorOf(node.op, node.domain) !== undefined;
      if (known || !node.inputs.some((input) => this.#active.has(input))) continue;
      throw this.#refuse(node, `operator ${node.op} cannot be differentiated`);
    }
  }

  #visit(node: Node): void {
    const arrived = node.outputs.some((output) => this.#grads.has(output));
    if (!arrived || !node.inputs.some((name) => this.#active.has(name))) return;
    const operator = operatorOf(node.op, node.domain);
    if (!operator?.gradient) throw this.#refuse(node, `operator ${node.op} cannot be differentiated`);
    const grads = this.#gradients(node, operator.gradient);
    node.inputs.forEach((name, index) => {
      const grad = grads[index];
      if (!grad || !this.#active.has(name)) return;
      this.#grads.set(name, [...(this.#grads.get(name) ?? []), grad]);
    });
  }

  #gradients(node: Node, gradient: (context: GradientContext) => (Value | null)[]): (Value | null)[] {
    try {
      return gradient(this.#context(node));
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw this.#refuse(node, `operator ${node.op} cannot be differentiated: ${cause.message}`, cause);
    }
  }

  #refuse(node: Node, message: string, cause?: unknown): DartError {
    const name = node.name || node.outputs[0];
    return new DartError(message, {
      where: `${this.#graph.source}: node '${name}'`,
      hint: 'export the policy with supported operators (docs/policy-files.md lists them)',
      cause,
    });
  }

  #context(node: Node): GradientContext {
    return {
      node,
      opset: this.#graph.opset,
      input: (index) => this.#import(node.inputs[index]!),
      output: (index) => this.#import(this.#outputName(node, index)),
      inputShape: (index) => this.#shape(node.inputs[index]!),
      outputShape: (index) => this.#shape(node.outputs[index]!),
      inputDims: (index) => this.#dims(node.inputs[index]!),
      outputDims: (index) => this.#dims(node.outputs[index]!),
      grad: (index = 0) => this.#gradOf(node.outputs[index]!)!,
      hasGrad: (index) => this.#grads.has(node.outputs[index]!),
      wants: (index) => this.#active.has(node.inputs[index] ?? ''),
      constant: (index) => this.#constant(node.inputs[index]!),
      contents: (index) => this.#contentsOf(node.inputs[index]!),
    };
  }

  /** Optional outputs that a gradient needs (the statistics of LayerNormalization) are asked for here. */
  #outputName(node: Node, index: number): string {
    while (node.outputs.length <= index) {
      const name = `${node.outputs[0]}/${node.outputs.length}`;
      const first = this.#graph.values.get(node.inputs[0]!)!;
      const shape = first.shape?.map((extent, axis) => (axis === first.shape!.length - 1 ? 1 : extent)) ?? null;
      node.outputs.push(name);
      this.#graph.values.set(name, { name, dtype: 'float32', shape });
      this.#producers.set(name, node);
    }
    return node.outputs[index]!;
  }

  #constant(name: string): ConstantTensor | null {
    const initializer = this.#graph.initializers.get(name);
    if (initializer) return initializer;
    const value = this.#producers.get(name)?.attributes.value;
    return value && 'tensor' in value ? value.tensor : null;
  }

  #contentsOf(name: string) {
    const constant = this.#constant(name);
    return constant ? integersOf(constant) : this.#contents.get(name);
  }

  #shape(name: string): Dim[] {
    const shape = this.#graph.values.get(name)?.shape;
    if (!shape) throw new RangeError(`the rank of '${name}' is not known`);
    return shape;
  }

  /** Extents that are not all numbers come from the forward pass, which hands out a `Shape` (a few bytes). */
  #dims(name: string): Value {
    const dims = this.#shape(name);
    if (dims.every((extent) => typeof extent === 'number')) return this.#builder.constant(int64(dims));
    const known = `${name}/shape`;
    if (!this.#producers.has(known)) {
      const node: Node = { op: 'Shape', domain: '', name: known, inputs: [name], outputs: [known], attributes: {} };
      this.#graph.nodes.push(node);
      this.#graph.values.set(known, { name: known, dtype: 'int64', shape: [dims.length] });
      this.#producers.set(known, node);
    }
    if (!this.#forward.has(known)) {
      this.#saved.add(known);
      this.#forward.set(known, this.#builder.know(this.#builder.input(known, 'int64', [dims.length]), dims));
    }
    return this.#forward.get(known)!;
  }

  #import(name: string): Value {
    const known = this.#forward.get(name);
    if (known) return known;
    const value = this.#make(name);
    this.#forward.set(name, value);
    return value;
  }

  #make(name: string): Value {
    const { dtype, shape } = this.#graph.values.get(name) ?? { dtype: null, shape: null };
    const constant = this.#graph.initializers.get(name);
    if (constant && !this.#wrt.has(name)) return this.#builder.constant(constant, `forward/${name}`);
    const node = this.#producers.get(name);
    if (node && this.#computesAgain(node, name)) return this.#repeat(node, name);
    if (node) this.#saved.add(name);
    return this.#builder.input(name, dtype ?? 'float32', shape);
  }

  #computesAgain(node: Node, name: string): boolean {
    if (node.op === 'Constant' || recomputeOf(node) === 'always') return true;
    return this.#again?.has(name) ?? false;
  }

  /** The same node in the backward graph. */
  #repeat(node: Node, wanted: string): Value {
    const inputs = node.inputs.map((input) => (input ? this.#import(input).name : ''));
    const outputs = this.#builder.copy({ ...node, inputs, outputs: [...node.outputs] });
    node.outputs.forEach((output, index) => {
      const stated = this.#graph.values.get(output);
      const value = { ...outputs[index]!, shape: stated?.shape ?? outputs[index]!.shape };
      this.#forward.set(output, value);
    });
    return this.#forward.get(wanted)!;
  }

  #gradOf(name: string): Value | null {
    const parts = this.#grads.get(name);
    if (!parts) return null;
    const sum = parts.reduce(add);
    // The sum is formed once, however many ask for it.
    this.#grads.set(name, [sum]);
    return sum;
  }
}
