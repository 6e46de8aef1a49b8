import { DartError, messageOf } from '../errors.ts';
import { bytesOf, dtypeOfCode, fromBytes, zeros } from './elements.ts';
import { inferGraph } from './infer.ts';
import { ATTRIBUTE_TYPE, ModelMessage } from './schema.ts';
import type { Attribute, ConstantTensor, Graph, Node, TensorData, ValueInfo } from './types.ts';
import { elementCount } from './types.ts';

/** What protobufjs hands out: 64-bit integers may be `Long` objects. */
type Whole = number | { toString(): string };
interface TensorMessage {
  name: string;
  dims: Whole[];
  dataType: number;
  rawData: Uint8Array;
  floatData: number[];
  int32Data: number[];
  int64Data: Whole[];
  doubleData: number[];
  uint64Data: Whole[];
  dataLocation: number;
}
interface AttributeMessage {
  name: string;
  type: number;
  f: number;
  i: Whole;
  s: Uint8Array;
  t: TensorMessage | null;
  floats: number[];
  ints: Whole[];
  strings: Uint8Array[];
}
interface ValueMessage {
  name: string;
  type: {
    tensorType: {
      elemType: number;
      shape: { dim: { dimValue: Whole; dimParam: string }[] } | null;
    } | null;
  } | null;
}
interface ModelFields {
  irVersion: Whole;
  opsetImport: { domain: string; version: Whole }[];
  metadataProps: { key: string; value: string }[];
  graph: {
    name: string;
    node: {
      input: string[];
      output: string[];
      name: string;
      opType: string;
      domain: string;
      attribute: AttributeMessage[];
    }[];
    initializer: TensorMessage[];
    input: ValueMessage[];
    output: ValueMessage[];
    valueInfo: ValueMessage[];
  } | null;
}

const whole = (value: Whole): number => (typeof value === 'number' ? value : Number(value.toString()));
const text = new TextDecoder();

function listedData(message: TensorMessage, count: number): TensorData | null {
  const { floatData, doubleData, int64Data, int32Data } = message;
  if (floatData.length === count) return Float32Array.from(floatData);
  if (doubleData.length === count) return Float64Array.from(doubleData);
  if (int64Data.length === count) return BigInt64Array.from(int64Data, (value) => BigInt(value.toString()));
  const dtype = dtypeOfCode(message.dataType);
  if (int32Data.length !== count || !dtype) return null;
  const data = zeros(dtype, count) as Int32Array;
  data.set(int32Data);
  return data;
}

function readTensor(message: TensorMessage, source: string): ConstantTensor {
  const where = `${source}: tensor '${message.name}'`;
  const dtype = dtypeOfCode(message.dataType);
  if (!dtype) throw new DartError(`element type ${message.dataType} is not supported`, { where });
  if (message.dataLocation === 1) {
    throw new DartError('its values lie in another file, which is not supported', {
      where,
      hint: 'save the model with the weights inside the .onnx file',
    });
  }
  const shape = message.dims.map(whole);
  const count = elementCount(shape);
  const { rawData } = message;
  if (rawData.length === count * bytesOf(dtype)) return { dtype, shape, data: fromBytes(dtype, rawData) };
  const data = rawData.length === 0 ? listedData(message, count) : null;
  if (!data) throw new DartError(`the values do not fit its shape [${shape.join(', ')}]`, { where });
  return { dtype, shape, data };
}

function readAttribute(message: AttributeMessage, source: string): Attribute {
  switch (message.type) {
    case ATTRIBUTE_TYPE.float:
      return { float: message.f };
    case ATTRIBUTE_TYPE.int:
      return { int: whole(message.i) };
    case ATTRIBUTE_TYPE.string:
      return { string: text.decode(message.s) };
    case ATTRIBUTE_TYPE.floats:
      return { floats: [...message.floats] };
    case ATTRIBUTE_TYPE.ints:
      return { ints: message.ints.map(whole) };
    case ATTRIBUTE_TYPE.strings:
      return { strings: message.strings.map((bytes) => text.decode(bytes)) };
    case ATTRIBUTE_TYPE.tensor:
      return message.t ? { tensor: readTensor(message.t, source) } : { other: 'empty tensor' };
    default:
      return { other: `attribute type ${message.type}` };
  }
}

function readValue(message: ValueMessage): ValueInfo {
  const tensor = message.type?.tensorType;
  const shape = tensor?.shape?.dim.map((dim, axis) => {
    if (dim.dimParam) return dim.dimParam;
    // proto2 leaves an unknown extent unset, which reads as 0.
    return whole(dim.dimValue) || `${message.name}[${axis}]`;
  });
  return { name: message.name, dtype: tensor ? dtypeOfCode(tensor.elemType) : null, shape: shape ?? null };
}

function decode(bytes: Uint8Array, source: string): ModelFields {
  const refuse = (reason: string, cause?: unknown) =>
    new DartError(`this is not a whole ONNX file (${reason})`, {
      where: source,
      hint: 'check the path and that the file was copied completely',
      cause,
    });
  if (bytes.length === 0) throw refuse('it is empty');
  let message: ModelFields;
  try {
    message = ModelMessage.decode(bytes) as unknown as ModelFields;
  } catch (cause) {
    throw refuse(messageOf(cause), cause);
  }
  if (!message.graph || message.graph.node.length === 0) throw refuse('no graph inside');
  if (whole(message.irVersion) === 0 || message.opsetImport.length === 0) throw refuse('no version inside');
  return message;
}

/**
 * Reads an `.onnx` file. Shapes that the file does not give are inferred as far as the operators are known.
 * @param source the file's name, for messages
 * @throws DartError for bytes that are no whole ONNX model, for external weights, for unknown element types
 */
export function readOnnx(bytes: Uint8Array, source: string): Graph {
  const message = decode(bytes, source);
  const fields = message.graph!;
  const initializers = new Map(fields.initializer.map((tensor) => [tensor.name, readTensor(tensor, source)]));
  const nodes = fields.node.map(
    (node): Node => ({
      op: node.opType,
      domain: node.domain === 'ai.onnx' ? '' : node.domain,
      name: node.name,
      inputs: [...node.input],
      outputs: [...node.output],
      attributes: Object.fromEntries(node.attribute.map((item) => [item.name, readAttribute(item, source)])),
    }),
  );
  const values = new Map([...fields.valueInfo, ...fields.output, ...fields.input].map((v) => [v.name, readValue(v)]));
  const opset = message.opsetImport.find((set) => set.domain === '' || set.domain === 'ai.onnx');
  const graph: Graph = {
    name: fields.name,
    opset: opset ? whole(opset.version) : 0,
    // Old files list initializers among the inputs as well.
    inputs: fields.input.filter((input) => !initializers.has(input.name)).map(readValue),
    outputs: fields.output.map(readValue),
    initializers,
    nodes,
    values,
    metadata: new Map(message.metadataProps.map(({ key, value }) => [key, value])),
    source,
  };
  inferGraph(graph);
  return graph;
}
