import type { Attribute, ConstantTensor, Dim, DType, ValueInfo } from './types.ts';

/** A tensor inside a graph that is being built. */
export interface Value extends ValueInfo {
  readonly builder: NodeSink;
}

/** What operator functions need of a builder. */
export interface NodeSink {
  readonly opset: number;
  emit(
    op: string,
    inputs: readonly (Value | null)[],
    attributes?: Record<string, Attribute>,
    outputs?: number,
    name?: string,
  ): Value[];
  constant(tensor: ConstantTensor, name?: string): Value;
  /** The values of an integer tensor where they are known while building; extents may be names. */
  contentsOf(value: ValueInfo): Dim[] | null;
}

/** The value's shape; throws where the rank is unknown, which operators with gradients cannot work without. */
export function shapeOf(value: ValueInfo): Dim[] {
  if (value.shape === null) throw new RangeError(`the rank of '${value.name}' is not known`);
  return value.shape;
}

/** The value's element type; throws where it is unknown. */
export function dtypeOf(value: ValueInfo): DType {
  if (value.dtype === null) throw new RangeError(`the element type of '${value.name}' is not known`);
  return value.dtype;
}
