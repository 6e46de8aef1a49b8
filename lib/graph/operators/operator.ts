import type { ConstantTensor, Dim, DType, Node, ValueInfo } from '../types.ts';
import type { Value } from '../value.ts';

export interface InferContext {
  node: Node;
  opset: number;
  /** Null for an optional input that is left out. */
  inputs: (ValueInfo | null)[];
  /** The input's values where it is a constant. */
  constant(index: number): ConstantTensor | null;
  /** The values of an integer input where they are known; extents of the graph's inputs may be names. */
  contents(index: number): Dim[] | null;
}

export interface Inferred {
  dtype: DType | null;
  shape: Dim[] | null;
  /** Values of an integer result where they follow from shapes. */
  contents?: Dim[] | null;
}

export interface GradientContext {
  node: Node;
  opset: number;
  /** A forward value, as the backward graph sees it (saved, given or computed again). */
  input(index: number): Value;
  output(index: number): Value;
  /** Extents of an input, without asking for its values. */
  inputShape(index: number): Dim[];
  outputShape(index: number): Dim[];
  /** The extents of an input as a vector, constant where they are numbers, else handed over by the forward pass. */
  inputDims(index: number): Value;
  outputDims(index: number): Value;
  /** dL/d(output); null where the loss does not depend on that output. */
  grad(index?: number): Value;
  hasGrad(index: number): boolean;
  /** False where nothing needs the gradient of this input. */
  wants(index: number): boolean;
  constant(index: number): ConstantTensor | null;
  contents(index: number): Dim[] | null;
}

/** Gradients by input; null where there is none or none is wanted. */
export type Gradient = (context: GradientContext) => (Value | null)[];

export interface Operator {
  infer(context: InferContext): Inferred[];
  /** Null: integers and comparisons, through which no gradient flows. */
  gradient: Gradient | null;
  /**
   * Whether the backward graph computes the result again instead of having the forward pass keep it: `always` for what
   * only moves data, `cheap` where all inputs are at hand anyway, `save` (default) never.
   */
  recompute?: 'always' | 'cheap' | 'save';
}

/** The i-th input, which the operator must have. */
export function inputOf(context: InferContext, index: number): ValueInfo {
  const value = context.inputs[index];
  if (!value) throw new RangeError(`input ${index} is missing`);
  return value;
}

/** Same type and shape as the first input. */
export function likeFirst(context: InferContext): Inferred[] {
  const { dtype, shape } = inputOf(context, 0);
  return [{ dtype, shape }];
}
