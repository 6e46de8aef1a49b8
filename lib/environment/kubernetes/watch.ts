import type { V1Pod } from '@kubernetes/client-node';
import type { DartError } from '../../errors.ts';
import { statusOf } from './api_error.ts';
import type { Cluster } from './cluster.ts';
import { LABEL } from './names.ts';

/** A pod as it was last seen; `gone` when the API server has it no more. */
export interface Sight {
  pod: V1Pod;
  gone: boolean;
}

export interface WatchListener {
  saw(sight: Sight): void;
  /** Nothing will be seen any more: we may not look. */
  blind(error: DartError): void;
}

/** The server ends a watch after so long, s. */
const LIFETIME_S = 300;
/** It sends a bookmark each minute; after this silence the connection counts as dead, ms. */
const SILENCE_MS = 100_000;
const PAGE = 500;

/**
 * All pods of one owner: listed once, then watched. A watch that ends goes on from the last version seen; where that is
 * too old (410 Gone) all are listed again, and what is missing from the list counts as gone.
 */
export class PodWatch {
  readonly #cluster: Cluster;
  readonly #selector: string;
  readonly #pods = new Map<string, { pod: V1Pod; since: number }>();
  readonly #listeners = new Map<string, WatchListener>();
  readonly #stopped = new AbortController();
  #version: string | null = null;
  #lists = 0;
  #done: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, owner: string) {
    this.#cluster = cluster;
    this.#selector = `${LABEL.owner}=${owner}`;
  }

  /** Resolves when the first list is in. Rejects where we may not list. */
  async start(): Promise<void> {
    await this.#list();
    this.#done = this.#run();
  }

  /** Tells the listener of a pod that we have made, from `pod` on. */
  follow(pod: V1Pod, listener: WatchListener): void {
    const name = nameOf(pod);
    this.#listeners.set(name, listener);
    const known = this.#pods.get(name);
    // The list that may be under way does not know it yet: its absence there says nothing.
    if (!known) this.#pods.set(name, { pod, since: this.#lists });
    listener.saw({ pod: known?.pod ?? pod, gone: false });
  }

  unfollow(name: string): void {
    this.#listeners.delete(name);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#listeners.clear();
    await this.#done;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#stopped.signal.aborted) {
      const listed = this.#version === null;
      let error: unknown;
      let events = 0;
      try {
        if (this.#version === null) await this.#list();
        else events = await this.#watchOnce(this.#version);
      } catch (caught) {
        error = caught;
      }
      const status = statusOf(error) ?? statusOf(error instanceof Error ? error.cause : undefined);
      if (status === 410) this.#version = null;
      if (status === 403 || status === 401) {
        const blind = this.#cluster.error(error, { verb: 'watch', resource: 'pods' });
        for (const listener of [...this.#listeners.values()]) listener.blind(blind);
        return;
      }
      // A watch that ends at once without a word would otherwise be asked for without a pause.
      failures = status === 410 || (error === undefined && (listed || events > 0)) ? 0 : failures + 1;
      if (failures > 0) await this.#pause(failures);
    }
  }

  async #pause(failures: number): Promise<void> {
    const ms = Math.min(30_000, 200 * 2 ** Math.min(failures, 8));
    await this.#cluster.clock.sleep(ms, this.#stopped.signal).catch(() => {});
  }

  async #list(): Promise<void> {
    this.#lists += 1;
    const number = this.#lists;
    const there = new Set<string>();
    let page: string | undefined;
    let version: string | undefined;
    do {
      const list = await this.#cluster.call({ verb: 'list', resource: 'pods' }, () =>
        this.#cluster.core.listNamespacedPod({
          namespace: this.#cluster.namespace,
          labelSelector: this.#selector,
          limit: PAGE,
          _continue: page,
        }),
      );
      for (const pod of list.items) {
        there.add(nameOf(pod));
        this.#saw(pod);
      }
      version = list.metadata?.resourceVersion;
      page = list.metadata?._continue || undefined;
    } while (page !== undefined);
    for (const [name, { pod, since }] of this.#pods) if (since < number && !there.has(name)) this.#lost(pod);
    this.#version = version ?? null;
  }

  /** One watch until it ends; resolves with the number of events. Throws what ended it. */
  async #watchOnce(version: string): Promise<number> {
    await this.#cluster.pass();
    if (this.#stopped.signal.aborted) return 0;
    let events = 0;
    let failed: unknown;
    let connection: AbortController | null = null;
    const cut = () => connection?.abort();
    let stop = () => {};
    const silence = setTimeout(cut, SILENCE_MS);
    const watch = new this.#cluster.client.Watch(this.#cluster.config);
    // Its own limit is shorter than the bookmarks are apart.
    Object.assign(watch, { requestTimeoutMs: SILENCE_MS });
    try {
      await new Promise<void>((resolve, reject) => {
        const ended = (error: unknown) => (error && !isAbort(error) ? reject(error) : resolve());
        const saw = (type: string, object: unknown) => {
          if (failed !== undefined || this.#stopped.signal.aborted) return;
          events += 1;
          silence.refresh();
          failed = this.#event(type, object as V1Pod);
          if (failed !== undefined) cut();
        };
        stop = () => {
          cut();
          resolve();
        };
        this.#stopped.signal.addEventListener('abort', stop);
        const path = `/api/v1/namespaces/${this.#cluster.namespace}/pods`;
        const query = {
          labelSelector: this.#selector,
          resourceVersion: version,
          allowWatchBookmarks: true,
          timeoutSeconds: LIFETIME_S,
        };
        watch.watch(path, query, saw, ended).then((controller) => {
          connection = controller;
          if (this.#stopped.signal.aborted || failed !== undefined) cut();
        }, reject);
      });
    } finally {
      clearTimeout(silence);
      this.#stopped.signal.removeEventListener('abort', stop);
    }
    if (failed !== undefined) throw failed;
    return events;
  }

  /** Takes an event in; what it returns ends the watch. */
  #event(type: string, object: V1Pod): unknown {
    if (type === 'ERROR') {
      const { code, message } = object as unknown as { code?: number; message?: string };
      return Object.assign(new Error(message ?? 'the watch failed'), { code: code ?? 500 });
    }
    this.#version = object.metadata?.resourceVersion ?? this.#version;
    if (type === 'ADDED' || type === 'MODIFIED') this.#saw(object);
    if (type === 'DELETED') this.#lost(object);
    return undefined;
  }

  #saw(pod: V1Pod): void {
    this.#pods.set(nameOf(pod), { pod, since: 0 });
    this.#listeners.get(nameOf(pod))?.saw({ pod, gone: false });
  }

  #lost(pod: V1Pod): void {
    this.#pods.delete(nameOf(pod));
    this.#listeners.get(nameOf(pod))?.saw({ pod, gone: true });
  }
}

function nameOf(pod: V1Pod): string {
  return pod.metadata?.name ?? '';
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && (error.name === 'AbortError' || error.name === 'TimeoutError');
}
