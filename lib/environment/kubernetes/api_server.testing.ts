import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { metaProblems, podProblems } from './rules.testing.ts';
import { schemaProblems } from './schema.testing.ts';
import { ObjectStore, type Stored } from './store.testing.ts';
import { forward, type Ran, runCommand } from './streams.testing.ts';
import { ChannelSocket } from './websocket.testing.ts';

export interface Rule {
  apiGroups?: string[];
  resources?: string[];
  verbs: string[];
}

/** A request as the server understood it. */
export interface Asked {
  verb: string;
  resource: string;
  name?: string;
}

/** An answer that is no. */
export class Refusal extends Error {
  readonly code: number;
  readonly reason: string;
  readonly headers: Record<string, string>;

  constructor(code: number, reason: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.headers = headers;
  }
}

const TYPES: Record<string, string> = { pods: 'V1Pod', leases: 'V1Lease' };
const GROUPS: Record<string, string> = { pods: '', leases: 'coordination.k8s.io' };
/** Parameters that the API has for each kind of request; others would be ignored in silence. */
const PARAMETERS: Record<string, string[]> = {
  list: ['labelSelector', 'limit', 'continue'],
  watch: ['watch', 'labelSelector', 'resourceVersion', 'allowWatchBookmarks', 'timeoutSeconds'],
  log: ['container', 'follow', 'pretty', 'previous', 'tailLines', 'timestamps'],
  exec: ['stdout', 'stderr', 'stdin', 'tty', 'command', 'container'],
  portforward: ['ports'],
};

/**
 * A Kubernetes API server for tests: pods and leases of one namespace. It refuses what the published schema, or the
 * checks beyond it, do not allow, and what its role does not; `problems` then says what was wrong.
 */
export class ApiServer {
  readonly namespace = 'desktops';
  readonly token = 'test-token';
  readonly store = new ObjectStore();
  readonly problems: string[] = [];
  readonly asked: Asked[] = [];
  /** What the caller may do; null: everything. */
  rules: Rule[] | null = null;
  /** Answers some requests in the server's place. */
  refuse: (asked: Asked) => Refusal | null = () => null;
  /** Told of each pod that was made: the scheduler and the kubelet. */
  onPod: (pod: Stored) => void = () => {};
  /** A pod that is being deleted: by default it is gone at once. */
  onDelete: (pod: Stored) => void = (pod) => this.store.remove('pods', pod.metadata.name);
  /** Address and port at which a pod's port really is; null where nobody listens. */
  dial: (pod: Stored, port: number) => Socket | null = (pod, port) =>
    connect(port, (pod.status as { podIP: string }).podIP);
  log: (name: string) => string[] = () => [];
  /** What a command in a pod says: channels 1 and 2, and its status. */
  exec: (name: string, command: string[]) => Ran = () => ({
    output: '',
    error: '',
    code: 0,
  });
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #watches = new Set<ServerResponse>();
  readonly #sockets = new Set<Socket>();

  async start(): Promise<void> {
    this.#server.on('connection', (socket) => this.#sockets.add(socket));
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex) => this.#upgrade(request, socket));
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#server.close();
    this.dropConnections();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A kubeconfig with two contexts: `test`, and `elsewhere` in another namespace. */
  kubeconfig(): string {
    const cluster = { name: 'test', cluster: { server: this.url, 'insecure-skip-tls-verify': true } };
    const context = (namespace: string) => ({ cluster: 'test', user: 'tester', namespace });
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [cluster],
      users: [{ name: 'tester', user: { token: this.token } }],
      contexts: [
        { name: 'test', context: context(this.namespace) },
        { name: 'elsewhere', context: context('other') },
      ],
      'current-context': 'test',
    });
  }

  get watching(): number {
    return this.#watches.size;
  }

  /** Ends all watches, as a restarted API server does. */
  dropWatches(): void {
    for (const watch of this.#watches) watch.destroy();
  }

  /** Ends all watches after what they were told, as the API server does from time to time. */
  endWatches(): void {
    for (const watch of this.#watches) watch.end();
  }

  /** Breaks every connection, answered or not. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Tells all watches how far they have come. */
  bookmark(): void {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion: this.store.version } };
    for (const watch of this.#watches) watch.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  count(verb: string, resource: string): number {
    return this.asked.filter((one) => one.verb === verb && one.resource === resource).length;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      this.#serve(request, Buffer.concat(chunks).toString('utf8'), response);
    } catch (error) {
      const refusal = error instanceof Refusal ? error : fail(418, 'Broken', String(error));
      if (refusal !== error) this.problems.push(String(error));
      answer(response, refusal.code, statusOf(refusal), refusal.headers);
    }
  }

  #serve(request: IncomingMessage, text: string, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', this.url);
    const target = this.#admit(request, url);
    const body: unknown = text === '' ? {} : JSON.parse(text);
    const { verb, resource, name = '' } = target;
    if (verb === 'create') this.#create(resource, body as Stored, response);
    else if (verb === 'watch') this.#watch(url, response);
    else if (verb === 'list') this.#list(resource, url, response);
    else if (verb === 'patch') this.#patch(target, request, body as Stored, response);
    else if (verb === 'delete') this.#delete(target, body, response);
    else if (resource === 'pods/log') this.#log(name, url, response);
    else answer(response, 200, this.#existing(resource, name));
  }

  #existing(resource: string, name: string): Stored {
    const object = this.store.get(resource, name);
    if (!object) throw notFound(name);
    return object;
  }

  #target(request: IncomingMessage, url: URL): Asked | null {
    const match =
      /^\/(?:api\/v1|apis\/coordination\.k8s\.io\/v1)\/namespaces\/([^/]+)\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(
        url.pathname,
      );
    if (!match || match[1] !== this.namespace) return null;
    const [, , plural = '', name, sub] = match;
    const right = plural === 'pods' ? url.pathname.startsWith('/api/v1/') : url.pathname.startsWith('/apis/coord');
    if (!(plural in TYPES) || !right) return null;
    const resource = sub ? `${plural}/${sub}` : plural;
    const list = url.searchParams.get('watch') === 'true' ? 'watch' : 'list';
    const verbs: Record<string, string> = {
      GET: sub === 'exec' || sub === 'portforward' ? 'create' : name ? 'get' : list,
      POST: 'create',
      DELETE: name ? 'delete' : 'deletecollection',
      PATCH: 'patch',
      PUT: 'update',
    };
    return { verb: verbs[request.method ?? ''] ?? '', resource, name };
  }

  /** Who is it, may they, and is it a request that the API has? */
  #admit(request: IncomingMessage, url: URL): Asked {
    if (request.headers.authorization !== `Bearer ${this.token}`) throw fail(401, 'Unauthorized', 'Unauthorized');
    const target = this.#target(request, url);
    if (!target) throw notFound(url.pathname);
    this.asked.push(target);
    const { verb, resource } = target;
    // A WebSocket begins as a GET, and counts as the creation that it is.
    const verbs = request.headers.upgrade ? ['get', verb] : [verb];
    const allowed = verbs.every(
      (wanted) => this.rules === null || this.rules.some((rule) => permits(rule, wanted, resource)),
    );
    if (!allowed) {
      const who = 'User "system:serviceaccount:desktops:dart"';
      const what = `${who} cannot ${verb} resource "${resource}" in API group "" in the namespace "desktops"`;
      throw fail(403, 'Forbidden', `${resource} is forbidden: ${what}`);
    }
    const known = PARAMETERS[resource.split('/')[1] ?? verb] ?? [];
    for (const name of url.searchParams.keys()) {
      if (!known.includes(name)) this.problems.push(`${verb} ${resource}: unknown parameter ${name}`);
    }
    const refusal = this.refuse(target);
    if (refusal) throw refusal;
    return target;
  }

  #create(resource: string, body: Stored, response: ServerResponse): void {
    const problems = [
      ...schemaProblems(body, TYPES[resource]!),
      ...(resource === 'pods' ? podProblems(body as never) : metaProblems(body.metadata as never)),
    ];
    if (problems.length > 0) {
      this.problems.push(...problems);
      throw fail(422, 'Invalid', `${resource} is invalid: ${problems.join('; ')}`);
    }
    const { name } = body.metadata;
    if (this.store.get(resource, name)) throw fail(409, 'AlreadyExists', `${name} already exists`);
    const made = this.store.create(resource, body, this.namespace);
    if (resource === 'pods')
      this.store.update('pods', name, (pod) => Object.assign(pod, { status: { phase: 'Pending' } }));
    if (resource === 'pods') this.onPod(this.store.get('pods', name)!);
    answer(response, 201, this.store.get(resource, name) ?? made);
  }

  #list(resource: string, url: URL, response: ServerResponse): void {
    const all = this.store.list(resource, url.searchParams.get('labelSelector') ?? '');
    const from = Number(url.searchParams.get('continue') ?? 0);
    const limit = Number(url.searchParams.get('limit') ?? all.length) || all.length;
    const items = all.slice(from, from + limit);
    const rest = from + limit < all.length ? { continue: String(from + limit) } : {};
    const kind = `${TYPES[resource]!.slice(2)}List`;
    const apiVersion = resource === 'pods' ? 'v1' : 'coordination.k8s.io/v1';
    answer(response, 200, { apiVersion, kind, metadata: { resourceVersion: this.store.version, ...rest }, items });
  }

  #watch(url: URL, response: ServerResponse): void {
    const version = url.searchParams.get('resourceVersion') ?? '';
    const selector = url.searchParams.get('labelSelector') ?? '';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const write = (event: unknown) => response.write(`${JSON.stringify(event)}\n`);
    const stop = this.store.follow(version, selector, 'pods', write);
    if (!stop) {
      const object = statusOf(fail(410, 'Expired', `too old resource version: ${version}`));
      return void response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    }
    this.#watches.add(response);
    response.on('close', () => {
      stop();
      this.#watches.delete(response);
    });
  }

  #patch({ resource, name }: Asked, request: IncomingMessage, body: Stored, response: ServerResponse): void {
    if (request.headers['content-type'] !== 'application/merge-patch+json') {
      this.problems.push(`patch ${resource}: ${request.headers['content-type']}`);
    }
    const patched = this.store.update(resource, name!, (object) => {
      object.spec = { ...(object.spec as object), ...(body.spec as object) };
    });
    if (!patched) throw notFound(name!);
    this.problems.push(...schemaProblems(patched, TYPES[resource]!));
    answer(response, 200, patched);
  }

  #delete({ resource, name }: Asked, body: unknown, response: ServerResponse): void {
    this.problems.push(...schemaProblems(body, 'V1DeleteOptions'));
    const { preconditions } = body as { preconditions?: { uid?: string; resourceVersion?: string } };
    const object = this.#existing(resource, name!);
    for (const key of ['uid', 'resourceVersion'] as const) {
      if (preconditions?.[key] !== undefined && preconditions[key] !== object.metadata[key]) {
        throw fail(409, 'Conflict', `the ${key} in the precondition is another`);
      }
    }
    if (resource !== 'pods') this.store.remove(resource, name!);
    else {
      const now = new Date().toISOString().replace(/\.\d+Z/, 'Z');
      this.store.update('pods', name!, ({ metadata }) => Object.assign(metadata, { deletionTimestamp: now }));
      setImmediate(() => this.onDelete(object));
    }
    answer(response, 200, object);
  }

  #log(name: string, url: URL, response: ServerResponse): void {
    this.#existing('pods', name);
    const lines = this.log(name).slice(-Number(url.searchParams.get('tailLines') ?? 1e9));
    response.writeHead(200, { 'content-type': 'text/plain' });
    for (const line of lines) response.write(`${line}\n`);
    if (url.searchParams.get('follow') !== 'true') response.end();
  }

  #upgrade(request: IncomingMessage, socket: Duplex): void {
    const url = new URL(request.url ?? '/', this.url);
    try {
      const target = this.#admit(request, url);
      const pod = this.#existing('pods', target.name ?? '');
      const channels = new ChannelSocket(request, socket, 'v4.channel.k8s.io');
      if (target.resource === 'pods/exec')
        runCommand(this.exec(pod.metadata.name, url.searchParams.getAll('command')), channels);
      else
        forward(this.dial(pod, Number(url.searchParams.get('ports'))), Number(url.searchParams.get('ports')), channels);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      socket.end(`HTTP/1.1 ${error.code} ${error.reason}\r\ncontent-length: 0\r\n\r\n`);
    }
  }
}

function permits({ verbs, resources, apiGroups }: Rule, verb: string, resource: string): boolean {
  const group = GROUPS[resource.split('/')[0]!]!;
  return verbs.includes(verb) && resources?.includes(resource) === true && apiGroups?.includes(group) === true;
}

/** A refusal as the server words it. */
export function fail(code: number, reason: string, message: string, headers?: Record<string, string>): Refusal {
  return new Refusal(code, reason, message, headers);
}

function notFound(name: string): Refusal {
  return fail(404, 'NotFound', `"${name}" not found`);
}

function statusOf({ code, reason, message }: Refusal) {
  return { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code, reason, message };
}

function answer(response: ServerResponse, code: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
