import { DartError } from '../../errors.ts';

/**
 * The safetensors format: 8 bytes of header length, a JSON header, the tensors' bytes, little-endian
 * (https://github.com/huggingface/safetensors, README "Format"). Floats of every width are read as float32.
 */
export type FloatKind = 'F32' | 'BF16' | 'F16';

export interface FloatTensor {
  shape: readonly number[];
  data: Float32Array;
  /** How the file holds it; F32 if left out. */
  kind?: FloatKind;
}

export interface IntegerTensor {
  shape: readonly number[];
  data: BigInt64Array;
}

export interface Safetensors {
  tensors: Map<string, { shape: number[]; data: Float32Array; kind: FloatKind }>;
  integers: Map<string, { shape: number[]; data: BigInt64Array }>;
  metadata: Record<string, string>;
}

const BYTES: Record<string, number> = { F32: 4, BF16: 2, F16: 2, I64: 8 };
const MAX_HEADER = 100_000_000;

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

function refuse(where: string, reason: string, cause?: unknown): DartError {
  return new DartError(`this is not a whole safetensors file: ${reason}`, {
    where,
    hint: 'use another published version, or write this one again',
    cause,
  });
}

function readHeader(bytes: Uint8Array, where: string): { header: Record<string, unknown>; start: number } {
  if (bytes.length < 8) throw refuse(where, `it has ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = Number(view.getBigUint64(0, true));
  if (length > MAX_HEADER || 8 + length > bytes.length) throw refuse(where, 'the header is cut off');
  try {
    const header: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(8, 8 + length)));
    if (header === null || typeof header !== 'object' || Array.isArray(header)) throw refuse(where, 'no header');
    return { header: header as Record<string, unknown>, start: 8 + length };
  } catch (cause) {
    if (cause instanceof DartError) throw cause;
    throw refuse(where, 'the header is not JSON', cause);
  }
}

function readEntry(name: string, value: unknown, size: number, where: string): Entry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Partial<Entry>;
  const whole = (list: unknown): list is number[] =>
    Array.isArray(list) && list.every((item) => Number.isSafeInteger(item) && item >= 0);
  if (typeof dtype !== 'string' || !whole(shape) || !whole(offsets) || offsets.length !== 2) {
    throw refuse(where, `the entry of '${name}' is malformed`);
  }
  const width = BYTES[dtype];
  if (width === undefined) throw new DartError(`tensor '${name}' has type ${dtype}, which is not supported`, { where });
  const wanted = shape.reduce((product, extent) => product * extent, width);
  const [begin, end] = offsets as [number, number];
  if (end > size || end - begin !== wanted) throw refuse(where, `'${name}' does not have the bytes of its shape`);
  return { dtype, shape, data_offsets: [begin, end] };
}

/**
 * @param where the file, for messages
 * @throws DartError for bytes that are cut off or malformed, and for types other than F32, BF16, F16, I64
 */
export function readSafetensors(bytes: Uint8Array, where = 'safetensors'): Safetensors {
  const { header, start } = readHeader(bytes, where);
  const result: Safetensors = { tensors: new Map(), integers: new Map(), metadata: {} };
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') {
      result.metadata = value as Record<string, string>;
      continue;
    }
    const { dtype, shape, data_offsets } = readEntry(name, value, bytes.length - start, where);
    const own = new Uint8Array(bytes.subarray(start + data_offsets[0], start + data_offsets[1])).buffer;
    if (dtype === 'I64') result.integers.set(name, { shape, data: new BigInt64Array(own) });
    else result.tensors.set(name, { shape, data: floatsOf(dtype as FloatKind, own), kind: dtype as FloatKind });
  }
  return result;
}

function floatsOf(kind: FloatKind, buffer: ArrayBuffer): Float32Array {
  if (kind === 'F32') return new Float32Array(buffer);
  const bits = new Uint16Array(buffer);
  if (kind === 'F16') return Float32Array.from(bits, halfToFloat);
  const wide = Uint32Array.from(bits, (value) => value << 16);
  return new Float32Array(wide.buffer);
}

/** IEEE 754 binary16. */
function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Round to nearest, ties to even. */
function floatToHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (Number.isNaN(size)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | roundEven(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  // A fraction that rounds up to 1024 carries into the exponent, which is what the sum does.
  return sign | (((exponent + 15) << 10) + roundEven((size / 2 ** exponent - 1) * 1024));
}

function roundEven(x: number): number {
  const down = Math.floor(x);
  const rest = x - down;
  if (rest !== 0.5) return Math.round(x);
  return down % 2 === 0 ? down : down + 1;
}

function bfloats(data: Float32Array): Uint16Array {
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  return Uint16Array.from(bits, (word, i) => {
    if (Number.isNaN(data[i])) return 0x7fc0;
    return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16;
  });
}

function bytesOf(tensor: FloatTensor | IntegerTensor): { dtype: string; bytes: Uint8Array } {
  const { data } = tensor;
  const raw = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  if (data instanceof BigInt64Array) return { dtype: 'I64', bytes: raw(data) };
  const kind = ('kind' in tensor ? tensor.kind : undefined) ?? 'F32';
  if (kind === 'F32') return { dtype: kind, bytes: raw(data) };
  return { dtype: kind, bytes: raw(kind === 'BF16' ? bfloats(data) : Uint16Array.from(data, floatToHalf)) };
}

/** The bytes of a safetensors file, tensors in the given order, the header padded to 8 bytes as the format asks. */
export function writeSafetensors(
  tensors: ReadonlyMap<string, FloatTensor | IntegerTensor>,
  metadata: Record<string, string> = {},
): Uint8Array {
  const parts: Uint8Array[] = [];
  const header: Record<string, unknown> = Object.keys(metadata).length > 0 ? { __metadata__: metadata } : {};
  let at = 0;
  for (const [name, tensor] of tensors) {
    const { dtype, bytes } = bytesOf(tensor);
    header[name] = { dtype, shape: tensor.shape, data_offsets: [at, at + bytes.length] };
    parts.push(bytes);
    at += bytes.length;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(8 + length + at).fill(0x20, 8, 8 + length);
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(text, 8);
  let to = 8 + length;
  for (const part of parts) {
    file.set(part, to);
    to += part.length;
  }
  return file;
}
