import { messageOf } from '../errors.ts';
import { callServer, type ServerCall } from '../policy/openai/call.ts';
import { describeServer } from '../policy/openai/describe.ts';
import { ServerFailure } from '../policy/openai/failure.ts';
import { QUESTION_TIMEOUT_MS } from '../policy/openai/open.ts';
import type { ServerPolicy } from '../policy/openai/server_policy.ts';
import type { Engine } from '../policy/openai/server_spec.ts';
import type { Coordinates, PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { queueDepthIn } from './metrics_scrape.ts';
import type { OwnedServer } from './spawn.ts';
import { UncertainVersion } from './sync_error.ts';
import { updateFromDisk } from './sync_sglang.ts';
import { isAdapter, type LoadCall, loadAdapter, refuseAdapter, reloadWeights } from './sync_vllm.ts';
import type { LoadablePolicy, WatchedPolicy } from './worker.ts';

/** How a server is brought to another version: by its engine's own way, by starting it again, or not at all. */
export type UpdateWay = 'auto' | 'restart' | 'off';

export interface ServerWorkerOptions {
  engine: Engine;
  /** Why it did not answer when it was opened; null where it did. */
  down?: unknown;
  apiKey?: string;
  update?: UpdateWay;
  /** For loading one version, ms. */
  loadTimeoutMs?: number;
  /** The process behind the server, where it is ours. */
  owned?: OwnedServer | null;
}

/** A large checkpoint from a slow disk takes minutes; Node's fetch waits no longer than this. */
const LOAD_TIMEOUT_MS = 295_000;

/** A server as a worker of the pool: requests, health, queue, and new versions. */
export class ServerWorker implements WatchedPolicy {
  readonly name: string;
  readonly coordinates: Coordinates;
  readonly down: unknown;
  /** Absent where this server cannot change versions. */
  readonly load?: LoadablePolicy['load'];
  onDown: (reason: unknown) => void = () => {};
  readonly #policy: ServerPolicy;
  readonly #options: ServerWorkerOptions;
  #adapter: string | null = null;
  #saysQueue = true;

  constructor(policy: ServerPolicy, options: ServerWorkerOptions) {
    this.#policy = policy;
    this.#options = options;
    this.name = policy.name;
    this.coordinates = policy.coordinates;
    this.down = options.down ?? null;
    options.owned?.onExit((reason) => this.onDown(reason));
    const { update = 'auto', engine } = options;
    if (update === 'off' || (update === 'auto' && engine === 'other')) return;
    this.load = (version, path) => (update === 'restart' ? this.#restart(version, path) : this.#load(version, path));
  }

  /** Root of the server. */
  get url(): string {
    return this.#policy.url;
  }

  get version(): number {
    return this.#policy.version;
  }

  act(request: PolicyRequest): Promise<PolicyReply> {
    return this.#policy.act(request);
  }

  async check(signal: AbortSignal): Promise<void> {
    await this.#options.owned?.ensureRunning();
    try {
      await callServer(`${this.#policy.url}/health`, this.#question(signal));
    } catch (error) {
      // Servers without this path answer all the same.
      if (!(error instanceof ServerFailure) || error.kind !== 'refused') throw error;
    }
  }

  async queued(signal: AbortSignal): Promise<number | null> {
    if (!this.#saysQueue) return null;
    try {
      const depth = queueDepthIn(await callServer(`${this.#policy.url}/metrics`, this.#question(signal)));
      return depth && depth.running + depth.waiting;
    } catch (error) {
      if (error instanceof ServerFailure && error.kind === 'refused') this.#saysQueue = false;
      return null;
    }
  }

  async cameBack(): Promise<void> {
    this.#adapter = null;
    const { version } = await describeServer(this.#policy.url, this.#question());
    this.#policy.became(version ?? this.version);
  }

  async close(): Promise<void> {
    await this.#options.owned?.stop();
  }

  async #load(version: number, path: string): Promise<void> {
    const { engine, apiKey, loadTimeoutMs: timeoutMs = LOAD_TIMEOUT_MS } = this.#options;
    const call: LoadCall = { url: this.#policy.url, apiKey, timeoutMs };
    if (engine === 'vllm' && (await isAdapter(path))) {
      this.#adapter = await loadAdapter(call, version, path, this.#adapter);
      this.#policy.became(version, this.#adapter);
      return;
    }
    if (engine === 'vllm') await reloadWeights(call, path);
    else await updateFromDisk(call, version, path);
    this.#policy.became(version);
  }

  async #restart(version: number, path: string): Promise<void> {
    await refuseAdapter(path, this.url);
    await this.#options.owned!.restartWith(path).catch((cause: unknown) => {
      throw new UncertainVersion(messageOf(cause), { where: this.url, cause });
    });
    this.#policy.became(version);
  }

  #question(signal?: AbortSignal): Omit<ServerCall, 'body'> {
    return { method: 'GET', timeoutMs: QUESTION_TIMEOUT_MS, apiKey: this.#options.apiKey, signal };
  }
}
