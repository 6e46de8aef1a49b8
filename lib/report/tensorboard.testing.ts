import { deepEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';

export type Fields = Map<number, (number | bigint | Buffer)[]>;

/** Reads protobuf's wire format by hand: field numbers with varints, doubles, floats and bytes. */
export function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const read: Record<number, () => number | bigint | Buffer> = {
      0: varint,
      1: () => take(8).readDoubleLE(),
      2: () => take(Number(varint())),
      5: () => take(4).readFloatLE(),
    };
    fields.set(key >> 3, [...(fields.get(key >> 3) ?? []), read[key & 7]!()]);
  }
  return fields;
}

/** The events of a file; throws where a masked checksum, computed bit by bit, is another. */
export function eventsOf(path: string): Fields[] {
  const bytes = readFileSync(path);
  const events: Fields[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at));
    const data = bytes.subarray(at + 12, at + 12 + length);
    const checks = [bytes.readUInt32LE(at + 8), bytes.readUInt32LE(at + 12 + length)];
    deepEqual(checks, [slowMasked(bytes.subarray(at, at + 8)), slowMasked(data)]);
    events.push(fieldsOf(data));
    at += 16 + length;
  }
  return events;
}

function slowMasked(data: Uint8Array): number {
  let crc = 0xffffffffn;
  for (const byte of data) {
    crc ^= BigInt(byte);
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1n) ^ (crc & 1n ? 0x82f63b78n : 0n);
  }
  crc ^= 0xffffffffn;
  return Number((((crc >> 15n) | ((crc << 17n) & 0xffffffffn)) + 0xa282ead8n) & 0xffffffffn);
}

export const textOf = (value: unknown) => (value as Buffer).toString();
/** Tag, step and value of an event that holds one scalar. */
export function scalarOf(event: Fields): [tag: string, step: number, value: number] {
  const value = fieldsOf(fieldsOf(event.get(5)![0] as Buffer).get(1)![0] as Buffer);
  return [textOf(value.get(1)![0]), Number(event.get(2)?.[0] ?? 0), value.get(2)![0] as number];
}
