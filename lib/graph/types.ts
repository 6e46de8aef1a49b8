/** Element types of ONNX tensors that the builder knows, by the name onnxruntime gives them. */
export type DType =
  | 'float32'
  | 'float64'
  | 'float16'
  | 'bfloat16'
  | 'uint8'
  | 'int8'
  | 'uint16'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'bool'
  | 'string';

/** A fixed extent, or the name of one that is only known at run time. */
export type Dim = number | string;

export type TensorData =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** A tensor whose values are known: row-major, `bool` as one byte an element. */
export interface ConstantTensor {
  dtype: DType;
  shape: number[];
  data: TensorData;
}

/** What is known of a tensor before the graph runs; `shape` is null where not even the rank is known. */
export interface ValueInfo {
  name: string;
  dtype: DType | null;
  shape: Dim[] | null;
}

export type Attribute =
  | { int: number }
  | { float: number }
  | { string: string }
  | { ints: number[] }
  | { floats: number[] }
  | { strings: string[] }
  | { tensor: ConstantTensor }
  | { other: string };

export interface Node {
  op: string;
  /** Empty for the standard operators. */
  domain: string;
  name: string;
  /** Empty string for an optional input that is left out. */
  inputs: string[];
  outputs: string[];
  attributes: Record<string, Attribute>;
}

/** An ONNX model: nodes in an order in which they can run. */
export interface Graph {
  name: string;
  opset: number;
  inputs: ValueInfo[];
  outputs: ValueInfo[];
  initializers: Map<string, ConstantTensor>;
  nodes: Node[];
  /** What is known of every tensor by name: inputs, initializers, results of nodes. */
  values: Map<string, ValueInfo>;
  metadata: Map<string, string>;
  /** File that the graph was read from, for messages. */
  source: string;
}

/** Number of elements of a shape. */
export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, extent) => product * extent, 1);
}

/** An integer attribute, or `fallback` where the node has none. */
export function intAttribute(node: Node, name: string, fallback: number): number {
  const attribute = node.attributes[name];
  return attribute && 'int' in attribute ? attribute.int : fallback;
}

/** A float attribute, or `fallback`. */
export function floatAttribute(node: Node, name: string, fallback: number): number {
  const attribute = node.attributes[name];
  return attribute && 'float' in attribute ? attribute.float : fallback;
}

/** A string attribute, or `fallback`. */
export function stringAttribute(node: Node, name: string, fallback: string): string {
  const attribute = node.attributes[name];
  return attribute && 'string' in attribute ? attribute.string : fallback;
}

/** A list of integers, or null. */
export function intsAttribute(node: Node, name: string): number[] | null {
  const attribute = node.attributes[name];
  return attribute && 'ints' in attribute ? attribute.ints : null;
}

/** The values of an integer tensor as plain numbers. */
export function integersOf(tensor: ConstantTensor): number[] {
  return Array.from(tensor.data as ArrayLike<number | bigint>, Number);
}

/** A 64-bit integer constant, as ONNX wants shapes and axes. */
export function int64(values: readonly number[], shape: number[] = [values.length]): ConstantTensor {
  return { dtype: 'int64', shape, data: BigInt64Array.from(values, BigInt) };
}

/** A float32 constant, a vector unless `shape` says otherwise. */
export function float32(values: ArrayLike<number>, shape: number[] = [values.length]): ConstantTensor {
  return { dtype: 'float32', shape, data: values instanceof Float32Array ? values : Float32Array.from(values) };
}
