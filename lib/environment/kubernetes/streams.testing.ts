import type { Socket } from 'node:net';
import type { ChannelSocket } from './websocket.testing.ts';

/** What a program in a pod said, and how it ended. */
export interface Ran {
  output: string;
  error: string;
  code: number;
  /** Why it could not be started. */
  refused?: string;
}

/** The channels of `exec`: 1 what it says, 2 its errors, 3 how it ended. */
export function runCommand({ output, error, code, refused }: Ran, channels: ChannelSocket): void {
  if (output) channels.send(1, output);
  if (error) channels.send(2, error);
  if (refused !== undefined) {
    channels.send(3, JSON.stringify({ status: 'Failure', reason: 'InternalError', message: refused }));
    channels.close();
    return;
  }
  const failed = { reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: String(code) }] } };
  channels.send(3, JSON.stringify(code === 0 ? { status: 'Success' } : { status: 'Failure', ...failed }));
  channels.close();
}

/** The channels of `portforward`: 0 the bytes, 1 what went wrong; each begins with the number of the port. */
export function forward(socket: Socket | null, port: number, channels: ChannelSocket): void {
  const number = Buffer.alloc(2);
  number.writeUInt16LE(port);
  channels.send(0, number);
  channels.send(1, number);
  const refuse = () => {
    channels.send(1, `an error occurred forwarding ${port}: connection refused`);
    channels.close();
  };
  if (!socket) {
    refuse();
    return;
  }
  channels.onMessage = (channel, data) => {
    if (channel === 0) socket.write(data);
  };
  channels.onClose = () => socket.destroy();
  socket.on('data', (data: Buffer) => channels.send(0, data));
  socket.on('error', refuse);
  socket.on('end', () => channels.close());
}
