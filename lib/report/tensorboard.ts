import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import protobuf from 'protobufjs/light.js';
import { fileError } from '../stream/errno.ts';
import { makeFolder } from '../stream/files.ts';

/**
 * The messages of TensorBoard's event files that scalars need (tensorboard/compat/proto/event.proto and summary.proto), as
 * a protobufjs descriptor: field name, number and type.
 */
const field = (id: number, type: string) => ({ id, type });
const descriptor = {
  nested: {
    Event: {
      fields: {
        wallTime: field(1, 'double'),
        step: field(2, 'int64'),
        fileVersion: field(3, 'string'),
        summary: field(5, 'Summary'),
        sessionLog: field(7, 'SessionLog'),
      },
    },
    Summary: { fields: { value: { id: 1, type: 'Value', rule: 'repeated' } } },
    // Of a choice a 0 is written too; a lone field would leave it out, and the number would be missing.
    Value: {
      oneofs: { value: { oneof: ['simpleValue'] } },
      fields: { tag: field(1, 'string'), simpleValue: field(2, 'float') },
    },
    SessionLog: { fields: { status: field(1, 'int32') } },
  },
};

const EventMessage = protobuf.Root.fromJSON(descriptor).lookupType('Event');

/** `SessionLog.SessionStatus.START`: what was logged from this step on by an earlier run is void. */
const START = 1;

/** An event file of TensorBoard, which appends one scalar at a time; each is on the disk's way before the next. */
export class EventFile {
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /**
   * A new file in a folder, which is made where it is missing; a run that goes on has a file of its own beside those of
   * before.
   * @throws DartError naming the folder or file that cannot be made.
   */
  static async open(dir: string, now = Date.now()): Promise<EventFile> {
    await makeFolder(dir);
    // TensorBoard reads the files of a folder in the order of their names.
    const stamp = (now / 1000).toFixed(3).padStart(14, '0');
    const path = join(dir, `events.out.tfevents.${stamp}.${process.pid}.dart-train`);
    const handle = await open(path, 'ax').catch((error: unknown) => {
      throw fileError(error, 'write', path);
    });
    const file = new EventFile(path, handle);
    await file.#write({ wallTime: now / 1000, fileVersion: 'brain.Event:2' });
    return file;
  }

  /** Scalars that were written before, here or in earlier files, are no longer shown from this step on. */
  async begin(firstStep: number, now = Date.now()): Promise<void> {
    await this.#write({ wallTime: now / 1000, step: firstStep, sessionLog: { status: START } });
  }

  /** One number of one step. @throws DartError for a full disk. */
  async scalar(tag: string, step: number, value: number, now = Date.now()): Promise<void> {
    await this.#write({ wallTime: now / 1000, step, summary: { value: [{ tag, simpleValue: value }] } });
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }

  async #write(event: Record<string, unknown>): Promise<void> {
    const data = EventMessage.encode(EventMessage.create(event)).finish();
    await this.#handle.writeFile(framed(data)).catch((error: unknown) => {
      throw fileError(error, 'write', this.path);
    });
  }
}

/** What TensorBoard shows of a tag: step and value (a 32-bit float) of each point that no later file takes back. */
export interface LoggedPoint {
  step: number;
  value: number;
}

interface PlainEvent {
  step?: number;
  sessionLog?: { status?: number };
  summary?: { value?: { tag?: string; simpleValue?: number }[] };
}

/** The points of a tag in all event files of a folder; what cannot be read counts as not there. */
export async function loggedPoints(dir: string, tag: string): Promise<LoggedPoint[]> {
  const names = await readdir(dir).catch(() => []);
  let points: LoggedPoint[] = [];
  for (const name of names.filter((each) => each.includes('tfevents')).sort()) {
    const bytes = await readFile(join(dir, name)).catch(() => Buffer.alloc(0));
    for (const { step = 0, sessionLog, summary } of plainEvents(bytes)) {
      if (sessionLog?.status === START) points = points.filter((point) => point.step < step);
      for (const { tag: of, simpleValue } of summary?.value ?? [])
        if (of === tag && simpleValue !== undefined) points.push({ step, value: simpleValue });
    }
  }
  return points;
}

/** The events of a file until its end, or until one that is torn or none. */
function* plainEvents(bytes: Buffer): Generator<PlainEvent, void, void> {
  for (let at = 0; at + 16 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32LE(at);
    if (bytes.readUInt32LE(at + 4) !== 0 || end + 4 > bytes.length) return;
    try {
      yield EventMessage.toObject(EventMessage.decode(bytes.subarray(at + 12, end)), { longs: Number });
    } catch {
      return;
    }
    at = end + 4;
  }
}

/** A TFRecord: length (uint64), its checksum, the data, its checksum, all little-endian. */
function framed(data: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32LE(data.length, 0);
  return Buffer.concat([head, checksum(head), data, checksum(data)]);
}

/** The CRC-32C, rotated and shifted so that data which holds checksums itself is not checked by itself. */
function checksum(data: Uint8Array): Buffer {
  const crc = crc32c(data);
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(masked);
  return bytes;
}

/** Castagnoli's polynomial, reflected. */
const POLYNOMIAL = 0x82f63b78;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
});

/** CRC-32C of bytes (RFC 3720, appendix B.4). */
export function crc32c(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
