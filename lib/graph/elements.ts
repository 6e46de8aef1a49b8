import type { DType, TensorData } from './types.ts';

interface ElementKind {
  /** `TensorProto.DataType`. */
  code: number;
  bytes: number;
  view(buffer: ArrayBuffer): TensorData;
}

/** How each element type lies in memory and in a file. float16 and bfloat16 are kept as their 16 bits. */
const KINDS: Partial<Record<DType, ElementKind>> = {
  float32: { code: 1, bytes: 4, view: (buffer) => new Float32Array(buffer) },
  uint8: { code: 2, bytes: 1, view: (buffer) => new Uint8Array(buffer) },
  int8: { code: 3, bytes: 1, view: (buffer) => new Int8Array(buffer) },
  uint16: { code: 4, bytes: 2, view: (buffer) => new Uint16Array(buffer) },
  int16: { code: 5, bytes: 2, view: (buffer) => new Int16Array(buffer) },
  int32: { code: 6, bytes: 4, view: (buffer) => new Int32Array(buffer) },
  int64: { code: 7, bytes: 8, view: (buffer) => new BigInt64Array(buffer) },
  bool: { code: 9, bytes: 1, view: (buffer) => new Uint8Array(buffer) },
  float16: { code: 10, bytes: 2, view: (buffer) => new Uint16Array(buffer) },
  float64: { code: 11, bytes: 8, view: (buffer) => new Float64Array(buffer) },
  uint32: { code: 12, bytes: 4, view: (buffer) => new Uint32Array(buffer) },
  uint64: { code: 13, bytes: 8, view: (buffer) => new BigUint64Array(buffer) },
  bfloat16: { code: 16, bytes: 2, view: (buffer) => new Uint16Array(buffer) },
};

const BY_CODE = new Map(Object.entries(KINDS).map(([dtype, kind]) => [kind.code, dtype as DType]));

/** ONNX's number of an element type (TensorProto.DataType); strings for what is not known. */
export function codeOf(dtype: DType): number {
  return KINDS[dtype]?.code ?? 8;
}

/** Null for element types that the builder does not know (strings, 4-bit and 8-bit floats, complex numbers). */
export function dtypeOfCode(code: number): DType | null {
  return BY_CODE.get(code) ?? null;
}

/** Bytes of one element; 0 where they differ. */
export function bytesOf(dtype: DType): number {
  return KINDS[dtype]?.bytes ?? 0;
}

/** A copy of little-endian bytes as a typed array of its own. */
export function fromBytes(dtype: DType, bytes: Uint8Array): TensorData {
  const kind = KINDS[dtype];
  if (!kind) throw new TypeError(`no element kind for ${dtype}`);
  return kind.view(new Uint8Array(bytes).buffer);
}

/** `count` zeros. */
export function zeros(dtype: DType, count: number): TensorData {
  return fromBytes(dtype, new Uint8Array(count * bytesOf(dtype)));
}

/** True for the types that have gradients. */
export function isFloat(dtype: DType | null): boolean {
  return dtype === 'float32' || dtype === 'float64' || dtype === 'float16' || dtype === 'bfloat16';
}
