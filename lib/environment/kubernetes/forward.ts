import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { Cluster } from './cluster.ts';

/** A port of a pod on this machine's loopback. */
export interface Forward {
  /** On 127.0.0.1. */
  port: number;
  close(): Promise<void>;
}

/**
 * Listens on loopback and hands each connection to the pod's port through the API server, as `kubectl port-forward`
 * does. A connection that cannot be handed on is closed; nobody is told but whoever made it.
 */
export async function forwardPort(cluster: Cluster, pod: string, podPort: number): Promise<Forward> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    void carry(cluster, pod, podPort, socket).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function carry(cluster: Cluster, pod: string, port: number, socket: Socket): Promise<void> {
  await cluster.pass();
  const refused = new Writable({
    // The pod's side says in words that nobody listens there.
    write: (chunk: Buffer, _encoding, done) => {
      if (chunk.length > 0) socket.destroy();
      done();
    },
  });
  const forward = new cluster.client.PortForward(cluster.config);
  const connection = await forward.portForward(cluster.namespace, pod, [port], socket, refused, socket);
  if (typeof connection === 'function') return;
  connection.onclose = () => socket.destroySoon();
  socket.on('close', () => connection.close());
  if (socket.destroyed) connection.close();
}
