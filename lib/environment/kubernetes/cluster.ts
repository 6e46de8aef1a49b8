import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { CoordinationV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { DartError, messageOf } from '../../errors.ts';
import { NotSetUp } from '../kind.ts';
import { type ApiCall, apiError, retryAfterOf, statusOf, unwrapped } from './api_error.ts';
import { type Client, loadClient } from './load.ts';
import { type Clock, RateGate, REAL_CLOCK } from './rate.ts';
import type { ClusterSettings } from './settings.ts';

/** The pod that this process runs in. */
export interface Inside {
  namespace: string;
  podName: string;
}

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
const TRIES = 6;
/** How long the API server may take to answer, ms; what runs in a pod, and its log, take as long as they take. */
const ANSWER_MS = 30_000;
const ENDLESS = ['pods/exec', 'pods/log'];

/** One namespace of a cluster, behind a limit for requests. Every failure is a DartError with the next step. */
export class Cluster {
  readonly client: Client;
  readonly config: KubeConfig;
  readonly core: CoreV1Api;
  readonly coordination: CoordinationV1Api;
  readonly namespace: string;
  readonly server: string;
  readonly inside: Inside | null;
  readonly clock: Clock;
  readonly #gate: RateGate;
  readonly #answerMs: number;
  #ahead = 0;

  constructor(client: Client, config: KubeConfig, settings: ClusterSettings, inside: Inside | null, clock: Clock) {
    this.client = client;
    this.config = config;
    const cluster = config.getCurrentCluster();
    if (!cluster)
      throw new DartError('the kubeconfig names no cluster', { where: '--context', hint: 'kubectl config view' });
    this.server = cluster.server;
    this.inside = inside;
    this.namespace =
      settings.namespace ??
      config.getContextObject(config.getCurrentContext())?.namespace ??
      inside?.namespace ??
      'default';
    this.clock = clock;
    this.#answerMs = settings.answerMs ?? ANSWER_MS;
    this.#gate = new RateGate(settings.qps, settings.burst, clock);
    const configuration = client.createConfiguration({
      baseServer: new client.ServerConfiguration(cluster.server, {}),
      authMethods: { default: config },
      promiseMiddleware: [
        {
          pre: async (request) => {
            request.setHeaderParam('User-Agent', 'dart-toolkit');
            return request;
          },
          post: async (response) => {
            const date = Date.parse(response.headers.date ?? '');
            if (!Number.isNaN(date)) this.#ahead = date - Date.now();
            return response;
          },
        },
      ],
    });
    this.core = new client.CoreV1Api(configuration);
    this.coordination = new client.CoordinationV1Api(configuration);
  }

  /** The API server's time as of its last answer, ms since 1970: leases go by one clock, whatever ours says. */
  serverTime(): number {
    return Date.now() + this.#ahead;
  }

  /**
   * Makes a request. "Too many" and "not now" are heeded for as long as the server says, a broken connection is tried
   * again; so `request` must be something that may be done twice.
   */
  async call<T>(call: ApiCall, request: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      await this.#gate.pass();
      try {
        return await (ENDLESS.includes(call.resource) ? request() : this.#inTime(request()));
      } catch (thrown) {
        if (thrown instanceof DartError) throw thrown;
        const error = unwrapped(thrown);
        const pause = pauseAfter(error, attempt);
        if (pause === null || attempt === TRIES) throw this.error(error, call);
        if (statusOf(error) === 429) this.#gate.pause(pause);
        else await this.clock.sleep(pause);
      }
    }
  }

  /** An API server that takes connections and does not answer is not waited for. */
  async #inTime<T>(request: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const message = `the cluster at ${this.server} does not answer within ${this.#answerMs / 1000} s`;
      const error = new DartError(message, { where: `namespace ${this.namespace}`, hint: 'kubectl get --raw /readyz' });
      timer = setTimeout(() => reject(error), this.#answerMs);
    });
    return Promise.race([request, late]).finally(() => clearTimeout(timer));
  }

  /** Waits until one more request may go: for those that do not end, such as a watch. */
  pass(): Promise<void> {
    return this.#gate.pass();
  }

  error(error: unknown, call: ApiCall): DartError {
    return apiError(error, call, this.namespace, this.server);
  }
}

/** Before the next try, ms; null where another try would be answered the same. */
function pauseAfter(error: unknown, attempt: number): number | null {
  const status = statusOf(error);
  const growing = Math.min(8000, 250 * 2 ** (attempt - 1));
  if (status === 429 || status === 503 || status === 500) return retryAfterOf(error) ?? growing;
  // No status: the connection broke. 502 and 504: a proxy was in the way. 409: two at once, as with a quota's count.
  return status === null || status === 502 || status === 504 || status === 409 ? growing : null;
}

/**
 * The cluster of a kubeconfig, or the one that this process runs in.
 * @throws DartError where there is neither, or the kubeconfig cannot be read.
 */
export async function openCluster(settings: ClusterSettings, clock: Clock = REAL_CLOCK): Promise<Cluster> {
  const client = await loadClient();
  const inside = findInside();
  const config = new client.KubeConfig();
  try {
    if (settings.kubeconfig) config.loadFromFile(settings.kubeconfig);
    else config.loadFromDefault();
  } catch (error) {
    throw new DartError(`cannot read the kubeconfig: ${messageOf(error)}`, {
      where: settings.kubeconfig ?? process.env.KUBECONFIG ?? '~/.kube/config',
      hint: '--kubeconfig FILE',
      cause: error,
    });
  }
  if (settings.context) {
    if (!config.getContextObject(settings.context)) {
      const names = config.getContexts().map(({ name }) => name);
      throw new DartError(`there is no context "${settings.context}"`, { where: '--context', hint: names.join(', ') });
    }
    config.setCurrentContext(settings.context);
  }
  // What the client makes of no kubeconfig at all.
  if (
    config.getCurrentContext() === 'loaded-context' &&
    config.getCurrentCluster()?.server === 'http://localhost:8080'
  ) {
    throw new NotSetUp('there is no kubeconfig, and we are not in a cluster', {
      where: '--kubeconfig',
      hint: '--kubeconfig FILE, KUBECONFIG, or a Job in the cluster (docs/kubernetes/job.yaml)',
    });
  }
  return new Cluster(client, config, settings, inside, clock);
}

function findInside(): Inside | null {
  if (!process.env.KUBERNETES_SERVICE_HOST || !existsSync(`${ACCOUNT}/namespace`)) return null;
  return {
    namespace: readFileSync(`${ACCOUNT}/namespace`, 'utf8').trim(),
    podName: process.env.POD_NAME ?? hostname(),
  };
}
