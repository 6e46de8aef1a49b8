import protobuf from 'protobufjs/light.js';

/**
 * The messages of the ONNX format that a model of tensors needs (onnx/onnx.proto, IR version 8 and later), as a
 * protobufjs descriptor: field name, number and type. Fields that are not listed are skipped on reading.
 */
const field = (id: number, type: string) => ({ id, type });
const many = (id: number, type: string) => ({ id, type, rule: 'repeated' });
const packed = (id: number, type: string) => ({ id, type, rule: 'repeated', options: { packed: true } });
/** ONNX is proto2: repeated numbers of attributes are written one by one. */
const unpacked = (id: number, type: string) => ({ id, type, rule: 'repeated', options: { packed: false } });

const descriptor = {
  nested: {
    Model: {
      fields: {
        irVersion: field(1, 'int64'),
        producerName: field(2, 'string'),
        producerVersion: field(3, 'string'),
        graph: field(7, 'Graph'),
        opsetImport: many(8, 'OperatorSet'),
        metadataProps: many(14, 'StringEntry'),
      },
    },
    OperatorSet: { fields: { domain: field(1, 'string'), version: field(2, 'int64') } },
    StringEntry: { fields: { key: field(1, 'string'), value: field(2, 'string') } },
    Graph: {
      fields: {
        node: many(1, 'Node'),
        name: field(2, 'string'),
        initializer: many(5, 'Tensor'),
        input: many(11, 'ValueInfo'),
        output: many(12, 'ValueInfo'),
        valueInfo: many(13, 'ValueInfo'),
      },
    },
    Node: {
      fields: {
        input: many(1, 'string'),
        output: many(2, 'string'),
        name: field(3, 'string'),
        opType: field(4, 'string'),
        attribute: many(5, 'Attribute'),
        domain: field(7, 'string'),
      },
    },
    Attribute: {
      fields: {
        name: field(1, 'string'),
        f: field(2, 'float'),
        i: field(3, 'int64'),
        s: field(4, 'bytes'),
        t: field(5, 'Tensor'),
        floats: unpacked(7, 'float'),
        ints: unpacked(8, 'int64'),
        strings: many(9, 'bytes'),
        type: field(20, 'int32'),
      },
    },
    Tensor: {
      fields: {
        dims: unpacked(1, 'int64'),
        dataType: field(2, 'int32'),
        floatData: packed(4, 'float'),
        int32Data: packed(5, 'int32'),
        stringData: many(6, 'bytes'),
        int64Data: packed(7, 'int64'),
        name: field(8, 'string'),
        rawData: field(9, 'bytes'),
        doubleData: packed(10, 'double'),
        uint64Data: packed(11, 'uint64'),
        externalData: many(13, 'StringEntry'),
        dataLocation: field(14, 'int32'),
      },
    },
    ValueInfo: { fields: { name: field(1, 'string'), type: field(2, 'Type') } },
    Type: { fields: { tensorType: field(1, 'TensorType') } },
    TensorType: { fields: { elemType: field(1, 'int32'), shape: field(2, 'Shape') } },
    Shape: { fields: { dim: many(1, 'Dimension') } },
    Dimension: { fields: { dimValue: field(1, 'int64'), dimParam: field(2, 'string') } },
  },
};

export const ModelMessage = protobuf.Root.fromJSON(descriptor).lookupType('Model');

/** `AttributeProto.AttributeType`. */
export const ATTRIBUTE_TYPE = { float: 1, int: 2, string: 3, tensor: 4, graph: 5, floats: 6, ints: 7, strings: 8 };
