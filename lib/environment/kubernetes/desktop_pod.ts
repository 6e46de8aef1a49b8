import type { V1Pod } from '@kubernetes/client-node';
import { DartError } from '../../errors.ts';
import type { Guest, ResettableGuest } from '../../guest/guest.ts';
import { connectResettable, HttpGuest } from '../../guest/http_client.ts';
import { AnySignal } from '../../stream/any_signal.ts';
import { type Environment, SESSION_WAITS } from '../environment.ts';
import { statusOf } from './api_error.ts';
import type { Cluster } from './cluster.ts';
import { type Forward, forwardPort } from './forward.ts';
import { explainedGuest, isSilence } from './guest.ts';
import { PodLife } from './life.ts';
import { podName } from './names.ts';
import { ignore, type OpenOwner, type Owner } from './owner.ts';
import { podManifest } from './pod.ts';
import type { DriverSettings } from './settings.ts';

export interface StartOptions {
  cluster: Cluster;
  settings: DriverSettings;
  owner: Owner;
  envId: string;
  runId: string;
  detached: boolean;
  token: string;
  tell: (line: string) => void;
  signal?: AbortSignal;
}

interface Addresses {
  serverUrl: string;
  cdpUrl?: string;
  vlcUrl?: string;
  vncUrl?: string;
}

/** Between two looks at a desktop that is starting, ms. */
const LOOK_MS = 500;

/** One desktop: its pod, the way to it, and what there is to undo. */
export class DesktopPod implements Environment {
  readonly id: string;
  readonly driver = 'kubernetes';
  readonly waits = SESSION_WAITS;
  readonly disposable: boolean;
  guest!: Guest;
  serverUrl!: string;
  cdpUrl?: string;
  vlcUrl?: string;
  vncUrl?: string;
  readonly #options: StartOptions;
  readonly #opened: OpenOwner;
  readonly #life: PodLife;
  readonly #forwards: Forward[] = [];
  #name: string;
  #uid: string | undefined;
  #used = false;
  #ready = false;
  #closed: Promise<void> | null = null;

  private constructor(options: StartOptions, opened: OpenOwner) {
    this.id = options.envId;
    this.#options = options;
    this.#opened = opened;
    this.#name = podName(options.owner.name, options.envId);
    this.#life = new PodLife(options);
    this.disposable = options.settings.reset === 'pod';
  }

  /** Resolves with a desktop that has shown a picture. Whatever goes wrong, or when `signal` aborts, no pod is left. */
  static async start(options: StartOptions): Promise<DesktopPod> {
    const opened = await options.owner.enter();
    const desktop = new DesktopPod(options, opened);
    try {
      await desktop.#start();
      return desktop;
    } catch (error) {
      await desktop.close().catch(() => {});
      throw error;
    }
  }

  async reset(seed: number): Promise<void> {
    if (!this.disposable) return (this.guest as ResettableGuest).reset(seed);
    if (this.#used) {
      throw new DartError('this desktop was used; only another pod is clean', {
        where: this.id,
        hint: '--reset session, where the image can reset itself',
      });
    }
    this.#used = true;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #start(): Promise<void> {
    const { signal, settings } = this.#options;
    signal?.throwIfAborted();
    const pod = await this.#create();
    this.#uid = pod.metadata?.uid;
    this.#opened.watch.follow(pod, this.#life);
    const stop = new AnySignal([signal], settings.startTimeoutMs);
    try {
      const ready = await this.#life.ready(stop.signal);
      Object.assign(this, await this.#addresses(ready));
      this.guest = explainedGuest(await this.#connect(stop.signal), (error) => this.#explain(error));
    } catch (error) {
      if (stop.late && !signal?.aborted && !this.#life.lost) throw this.#life.tooSlow(settings.startTimeoutMs, error);
      throw error;
    } finally {
      stop.release();
    }
    this.#ready = true;
  }

  async #create(): Promise<V1Pod> {
    const { cluster, owner, settings, envId, runId, token, detached } = this.#options;
    const { namespace } = cluster;
    const name = this.#name;
    const ownedBy = this.#opened.reference;
    const body = podManifest(settings, { name, envId, runId, owner: owner.name, token, detached, ownedBy });
    return cluster.call({ verb: 'create', resource: 'pods', name }, () =>
      cluster.core.createNamespacedPod({ namespace, body }).catch((error: unknown) => {
        // The name is new: where it is taken, the answer to an earlier try was lost.
        if (statusOf(error) !== 409) throw error;
        return cluster.core.readNamespacedPod({ namespace, name }).catch(() => Promise.reject(error));
      }),
    );
  }

  async #addresses(pod: V1Pod): Promise<Addresses> {
    const { cluster, settings, token } = this.#options;
    const address = settings.address ?? (cluster.inside ? 'pod' : 'forward');
    const at = async (port: number) => {
      if (address === 'pod') return `${hostOf(pod.status!.podIP!)}:${port}`;
      const forward = await forwardPort(cluster, this.#name, port);
      this.#forwards.push(forward);
      return `127.0.0.1:${forward.port}`;
    };
    const other = async (port: number | undefined) => (port === undefined ? undefined : `http://${await at(port)}`);
    return {
      serverUrl: `http://:${token}@${await at(settings.port)}`,
      cdpUrl: await other(settings.cdpPort),
      vlcUrl: await other(settings.vlcPort),
      vncUrl: await other(settings.vncPort),
    };
  }

  /** The API server calls a pod ready before its network reaches us: looks until a picture comes. */
  async #connect(stop: AbortSignal): Promise<Guest> {
    const { cluster, settings } = this.#options;
    const connect = settings.reset === 'session' ? connectResettable : HttpGuest.connect;
    for (;;) {
      const either = new AnySignal([stop, this.#life.end]);
      const { signal } = either;
      const look = await connect(this.serverUrl, { id: this.id, tries: 1, retryDelayMs: 0, signal })
        .then(
          (guest) => guest.screenshot(),
          (error: unknown) => error,
        )
        .catch((error: unknown) => error);
      either.release();
      if (this.#life.lost) throw this.#life.lost;
      stop.throwIfAborted();
      if (!(look instanceof Error)) break;
      // A server that answers "no" says so until the end of time.
      if (!isSilence(look)) throw look;
      this.#life.remember(look);
      await cluster.clock.sleep(LOOK_MS, stop);
    }
    return connect(this.serverUrl, { id: this.id, signal: this.#life.end });
  }

  async #explain(error: unknown): Promise<unknown> {
    if (this.#life.lost) return this.#life.lost;
    return isSilence(error) && !this.#closed ? this.#life.explain(error, this.#name) : error;
  }

  async #close(): Promise<void> {
    const { cluster, settings, owner, detached } = this.#options;
    this.#opened.watch.unfollow(this.#name);
    this.#life.close();
    await Promise.all(this.#forwards.map((forward) => forward.close()));
    try {
      if (detached && this.#ready) return;
      // Also where the answer to the creation never came: the pod may be there all the same.
      const preconditions = this.#uid ? { uid: this.#uid } : undefined;
      await cluster.call({ verb: 'delete', resource: 'pods', name: this.#name }, () =>
        cluster.core
          .deleteNamespacedPod({
            namespace: cluster.namespace,
            name: this.#name,
            body: { gracePeriodSeconds: settings.grace, ...(preconditions ? { preconditions } : {}) },
          })
          .catch((error: unknown) => ignore(error, [404, 409])),
      );
    } finally {
      await owner.leave();
    }
  }
}

function hostOf(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}
