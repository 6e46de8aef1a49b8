import { codeOf } from './elements.ts';
import { ATTRIBUTE_TYPE, ModelMessage } from './schema.ts';
import type { Attribute, ConstantTensor, Graph, Node, ValueInfo } from './types.ts';

/** IR version 8 is the one of opset 17 and 18; opset 20 came with 9, 21 with 10. */
function irVersionOf(opset: number): number {
  if (opset >= 21) return 10;
  return opset >= 19 ? 9 : 8;
}

const utf8 = new TextEncoder();

function tensorMessage(name: string, tensor: ConstantTensor) {
  const { data } = tensor;
  const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { name, dims: tensor.shape, dataType: codeOf(tensor.dtype), rawData };
}

function valueMessage(value: ValueInfo) {
  const elemType = value.dtype ? codeOf(value.dtype) : 0;
  const dim = value.shape?.map((extent) => (typeof extent === 'number' ? { dimValue: extent } : { dimParam: extent }));
  return { name: value.name, type: { tensorType: { elemType, ...(dim ? { shape: { dim } } : {}) } } };
}

function attributeMessage(name: string, attribute: Attribute) {
  if ('int' in attribute) return { name, type: ATTRIBUTE_TYPE.int, i: attribute.int };
  if ('float' in attribute) return { name, type: ATTRIBUTE_TYPE.float, f: attribute.float };
  if ('string' in attribute) return { name, type: ATTRIBUTE_TYPE.string, s: utf8.encode(attribute.string) };
  if ('ints' in attribute) return { name, type: ATTRIBUTE_TYPE.ints, ints: attribute.ints };
  if ('floats' in attribute) return { name, type: ATTRIBUTE_TYPE.floats, floats: attribute.floats };
  if ('tensor' in attribute) return { name, type: ATTRIBUTE_TYPE.tensor, t: tensorMessage('', attribute.tensor) };
  if ('strings' in attribute) {
    return { name, type: ATTRIBUTE_TYPE.strings, strings: attribute.strings.map((text) => utf8.encode(text)) };
  }
  throw new TypeError(`attribute ${name} cannot be written: ${attribute.other}`);
}

function nodeMessage(node: Node) {
  return {
    input: node.inputs,
    output: node.outputs,
    name: node.name,
    opType: node.op,
    domain: node.domain,
    attribute: Object.entries(node.attributes).map(([name, attribute]) => attributeMessage(name, attribute)),
  };
}

/** The graph as the bytes of an `.onnx` file, weights inside. Same graph, same bytes. */
export function writeOnnx(graph: Graph): Uint8Array {
  const named = new Set([...graph.inputs, ...graph.outputs].map((value) => value.name));
  const between = [...graph.values.values()].filter(
    (value) =>
      value.shape !== null && value.dtype !== null && !named.has(value.name) && !graph.initializers.has(value.name),
  );
  const domains = new Set(graph.nodes.map((node) => node.domain).filter((domain) => domain !== ''));
  const message = {
    irVersion: irVersionOf(graph.opset),
    producerName: 'dart-toolkit',
    opsetImport: [
      { domain: '', version: graph.opset },
      ...[...domains].sort().map((domain) => ({ domain, version: 1 })),
    ],
    metadataProps: [...graph.metadata].map(([key, value]) => ({ key, value })),
    graph: {
      name: graph.name,
      node: graph.nodes.map(nodeMessage),
      initializer: [...graph.initializers].map(([name, tensor]) => tensorMessage(name, tensor)),
      input: graph.inputs.map(valueMessage),
      output: graph.outputs.map(valueMessage),
      valueInfo: between.map(valueMessage),
    },
  };
  return ModelMessage.encode(message as never).finish();
}
