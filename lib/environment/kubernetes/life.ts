import type { V1Pod } from '@kubernetes/client-node';
import { DartError, messageOf } from '../../errors.ts';
import { statusOf } from './api_error.ts';
import type { Cluster } from './cluster.ts';
import { type Health, healthOf, isUnready } from './health.ts';
import type { DriverSettings } from './settings.ts';
import type { Sight, WatchListener } from './watch.ts';

export interface LifeOptions {
  cluster: Cluster;
  settings: DriverSettings;
  envId: string;
  tell: (line: string) => void;
}

/** The kubelet tells of an end a moment after the connections broke: so often, and so far apart (ms), we ask. */
const ASK = { times: 3, pauseMs: 1000 };

/** What is known of a pod: whether it is ready, what it waits for, why it ended. */
export class PodLife implements WatchListener {
  /** Set when the desktop is no more, unless we ended it. */
  lost: DartError | null = null;
  readonly #options: LifeOptions;
  readonly #end = new AbortController();
  #pod: V1Pod | null = null;
  #health: Health = { state: 'waiting' };
  #last: unknown;
  #wake: () => void = () => {};
  #closed = false;
  #patience: NodeJS.Timeout | null = null;

  constructor(options: LifeOptions) {
    this.#options = options;
  }

  /** Aborts when the pod is lost: calls that are under way need not run into their limits. */
  get end(): AbortSignal {
    return this.#end.signal;
  }

  saw({ pod, gone }: Sight): void {
    if (this.#closed || this.lost) return;
    this.#pod = pod;
    this.#health = healthOf(pod, gone);
    if (this.#health.state === 'gone') this.#lose(this.#health.why, this.#health.hint);
    else if (this.#health.state === 'waiting') this.#waits(this.#health);
    else this.#calm();
    this.#wake();
  }

  blind(error: DartError): void {
    // A desktop that is up goes on; one that is starting would wait for ever.
    if (this.#health.state === 'ready' || this.#closed) return;
    this.lost = error;
    this.#end.abort(error);
    this.#wake();
  }

  /** The pod when it is ready. Rejects with its end, with what it cannot get over, or when `stop` aborts. */
  async ready(stop: AbortSignal): Promise<V1Pod> {
    while (this.#health.state !== 'ready') {
      if (this.lost) throw this.lost;
      stop.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        stop.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return this.#pod!;
  }

  /** The newest reason why the desktop does not answer yet. */
  remember(error: unknown): void {
    this.#last = error;
  }

  tooSlow(limitMs: number, error: unknown): DartError {
    const health = this.#health;
    const why = health.state === 'waiting' ? (health.why ?? 'it is still starting') : messageOf(this.#last ?? error);
    const hint = health.state === 'waiting' && health.hint ? health.hint : 'more with --start-timeout; dart-env logs';
    return this.#error(`not ready after ${Math.round(limitMs / 1000)} s: ${why}`, hint);
  }

  /** Asks the API server why a desktop does not answer; the error itself where the pod seems well. */
  async explain(error: unknown, name: string): Promise<unknown> {
    const { cluster } = this.#options;
    for (let i = 0; i < ASK.times && !this.lost && !this.#closed; i++) {
      if (i > 0) await cluster.clock.sleep(ASK.pauseMs, this.end).catch(() => {});
      try {
        const pod = await cluster.call({ verb: 'get', resource: 'pods', name }, () =>
          cluster.core.readNamespacedPod({ namespace: cluster.namespace, name }),
        );
        this.saw({ pod, gone: false });
      } catch (problem) {
        if (statusOf(problem instanceof Error ? problem.cause : null) !== 404 || !this.#pod) break;
        this.saw({ pod: this.#pod, gone: true });
      }
    }
    if (this.lost) return this.lost;
    if (!this.#pod || !isUnready(this.#pod)) return error;
    return this.#error(`${messageOf(error)}; its pod is not ready any more`, 'kubectl describe pod; kubectl get nodes');
  }

  close(): void {
    this.#closed = true;
    this.#calm();
  }

  #waits({ why, hint = 'kubectl describe pod', trouble }: Health & { state: 'waiting' }): void {
    if (why) this.#options.tell(`a desktop waits: ${why}. Try: ${hint}`);
    if (why && trouble === 'refused') this.#lose(why, hint);
    else if (!why || trouble !== 'image') this.#calm();
    // A registry has its moments; a name that is wrong stays wrong.
    else this.#patience ??= setTimeout(() => this.#lose(why, hint), this.#options.settings.imagePatienceMs);
  }

  #calm(): void {
    if (this.#patience) clearTimeout(this.#patience);
    this.#patience = null;
  }

  #lose(why: string, hint: string): void {
    this.#calm();
    if (this.#closed || this.lost) return;
    this.lost = this.#error(this.#health.state === 'gone' ? `the desktop is gone: ${why}` : why, hint);
    this.#end.abort(this.lost);
    this.#wake();
  }

  #error(message: string, hint: string): DartError {
    const name = this.#pod?.metadata?.name;
    return new DartError(message, { where: name ? `${this.#options.envId} (pod ${name})` : this.#options.envId, hint });
  }
}
