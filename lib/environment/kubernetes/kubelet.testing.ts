import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { V1Pod, V1PodStatus } from '@kubernetes/client-node';
import { encode } from 'fast-png';
import type { ApiServer } from './api_server.testing.ts';
import { TOKEN_VARIABLE } from './names.ts';

const WIDTH = 4;
const HEIGHT = 3;
const picture = encode({ width: WIDTH, height: HEIGHT, channels: 3, data: new Uint8Array(WIDTH * HEIGHT * 3).fill(7) });

/**
 * Node, scheduler and kubelet of the contract server. Each pod gets an address of its own on loopback (127.1.0.1,
 * 127.1.0.2, …) and answers there as a desktop does, if it is asked with its token.
 */
export class Kubelet {
  /** Whether pods come up by themselves. */
  automatic = true;
  /** Requests of the guests by pod, `GET /screenshot`. */
  readonly requests: { pod: string; request: string }[] = [];
  /** Answers nothing, but keeps the connection: a desktop that hangs. */
  hangs = false;
  readonly #api: ApiServer;
  readonly #guests = new Map<string, Server>();
  #addresses = 0;

  constructor(api: ApiServer) {
    this.#api = api;
    api.onPod = (pod) => {
      if (this.automatic) void this.run(pod.metadata.name);
    };
    api.onDelete = (pod) => this.kill(pod.metadata.name);
  }

  get names(): string[] {
    return this.#api.store.list('pods', '').map(({ metadata }) => metadata.name);
  }

  /** Schedules a pod, starts its desktop, and says that it is ready. */
  async run(name: string): Promise<void> {
    const { store } = this.#api;
    const pod = store.get('pods', name) as V1Pod | undefined;
    if (!pod) return;
    this.#addresses += 1;
    const podIP = `127.1.${this.#addresses >> 8}.${this.#addresses & 255}`;
    this.status(name, { phase: 'Pending', conditions: [condition('PodScheduled', 'True')] });
    await this.#serve(pod, podIP);
    const running = { name: 'desktop', ready: true, image: '', imageID: '', restartCount: 0, state: { running: {} } };
    this.status(name, {
      phase: 'Running',
      podIP,
      conditions: [condition('Ready', 'True')],
      containerStatuses: [running],
    });
  }

  status(name: string, status: V1PodStatus): void {
    this.#api.store.update('pods', name, (pod) => Object.assign(pod, { status }));
  }

  /** The container waits, and says why. */
  waits(name: string, reason: string, message = ''): void {
    const waiting = { name: 'desktop', ready: false, image: '', imageID: '', restartCount: 0 };
    const state = { waiting: { reason, message } };
    this.status(name, { phase: 'Pending', containerStatuses: [{ ...waiting, state }] });
  }

  unschedulable(name: string, message: string): void {
    const conditions = [{ ...condition('PodScheduled', 'False'), reason: 'Unschedulable', message }];
    this.status(name, { phase: 'Pending', conditions });
  }

  /** The guest dies, and after it the pod's status says why. */
  async fails(name: string, status: V1PodStatus): Promise<void> {
    this.stop(name);
    this.status(name, { phase: 'Failed', ...status });
  }

  evict(name: string): Promise<void> {
    return this.fails(name, { reason: 'Evicted', message: 'The node was low on resource: memory.' });
  }

  oomKill(name: string): Promise<void> {
    const terminated = { exitCode: 137, reason: 'OOMKilled' };
    const container = { name: 'desktop', ready: false, image: '', imageID: '', restartCount: 0, state: { terminated } };
    return this.fails(name, { containerStatuses: [container] });
  }

  /** The desktop goes; the API server does not know yet. */
  stop(name: string): void {
    const guest = this.#guests.get(name);
    this.#guests.delete(name);
    guest?.closeAllConnections();
    guest?.close();
  }

  kill(name: string): void {
    this.stop(name);
    this.#api.store.remove('pods', name);
  }

  close(): void {
    for (const name of [...this.#guests.keys()]) this.stop(name);
  }

  async #serve(pod: V1Pod, host: string): Promise<void> {
    const container = pod.spec!.containers[0]!;
    const name = pod.metadata!.name!;
    const token = container.env!.find((variable) => variable.name === TOKEN_VARIABLE)!.value;
    const port = container.ports!.find((one) => one.name === 'guest')!.containerPort;
    const server = createServer((request, response) => {
      request.resume();
      this.requests.push({ pod: name, request: `${request.method} ${request.url}` });
      if (this.hangs) return;
      if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end();
      if (request.url === '/screenshot') return void response.end(picture);
      response.setHeader('content-type', 'application/json');
      if (request.url === '/screen_size') return void response.end(JSON.stringify({ width: WIDTH, height: HEIGHT }));
      response.end(JSON.stringify({ status: 'success', output: `${name}\n`, error: '', returncode: 0 }));
    });
    // One that ends while a request is on its way would look like a desktop that went away.
    server.keepAliveTimeout = 0;
    this.#guests.set(name, server);
    server.listen(port, host);
    await once(server, 'listening');
  }
}

function condition(type: string, status: string) {
  return { type, status };
}
