import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** The server's end of a WebSocket as Kubernetes speaks it: binary messages whose first byte is a channel. */
export class ChannelSocket {
  onMessage: (channel: number, data: Buffer) => void = () => {};
  onClose: () => void = () => {};
  readonly #socket: Duplex;
  #rest: Buffer = Buffer.alloc(0);

  /** Answers the handshake with `protocol`, which the client must have offered. */
  constructor(request: IncomingMessage, socket: Duplex, protocol: string) {
    const offered = String(request.headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
    if (!offered.includes(protocol)) throw new Error(`the client does not offer ${protocol}`);
    const accept = createHash('sha1')
      .update(String(request.headers['sec-websocket-key']) + MAGIC)
      .digest('base64');
    const headers = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${accept}`,
      `Sec-WebSocket-Protocol: ${protocol}`,
    ];
    socket.write(`${headers.join('\r\n')}\r\n\r\n`);
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('close', () => this.onClose());
    socket.on('error', () => {});
  }

  send(channel: number, data: Uint8Array | string): void {
    this.#frame(2, Buffer.concat([Buffer.from([channel]), Buffer.from(data as Uint8Array)]));
  }

  close(): void {
    this.#frame(8, Buffer.from([0x03, 0xe8]));
    this.#socket.end();
  }

  #frame(opcode: number, body: Buffer): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    const head = Buffer.alloc(10);
    head[0] = 0x80 | opcode;
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(body.length), 2);
    const short = Buffer.from([0x80 | opcode, body.length]);
    this.#socket.write(Buffer.concat([body.length < 126 ? short : head, body]));
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    for (;;) {
      const frame = parse(this.#rest);
      if (!frame) return;
      this.#rest = this.#rest.subarray(frame.size);
      if (frame.opcode === 8) this.close();
      if (frame.opcode === 9) this.#frame(10, frame.body);
      if ((frame.opcode === 1 || frame.opcode === 2) && frame.body.length > 0) {
        this.onMessage(frame.body[0]!, frame.body.subarray(1));
      }
    }
  }
}

/** The first frame of what has come, unmasked; null until it is whole. Messages are never split by the client. */
function parse(bytes: Buffer): { opcode: number; body: Buffer; size: number } | null {
  if (bytes.length < 2) return null;
  const short = bytes[1]! & 0x7f;
  const wide = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + wide + 4;
  if (bytes.length < start) return null;
  const length = wide === 2 ? bytes.readUInt16BE(2) : wide === 8 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (bytes.length < start + length) return null;
  const mask = bytes.subarray(start - 4, start);
  const body = Buffer.from(bytes.subarray(start, start + length));
  for (let i = 0; i < body.length; i++) body[i]! ^= mask[i & 3]!;
  return { opcode: bytes[0]! & 0x0f, body, size: start + length };
}
