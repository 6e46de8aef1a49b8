import type { Policy, PolicyReply, PolicyRequest } from '../policy/policy.ts';
import type { Circuit } from './circuit.ts';

/** A policy that can change to another published version; the others serve one version for ever. */
export interface LoadablePolicy extends Policy {
  /**
   * Answers with this version from the next request on. Rejects, and keeps the old one, where it cannot be read; rejects
   * with an UncertainVersion where nobody knows which one it has then.
   */
  load(version: number, path: string): Promise<void>;
}

/** A policy outside of this process, which may go down and come back. */
export interface WatchedPolicy extends Policy {
  /** Why it did not answer when it was opened; null where it did. */
  readonly down: unknown;
  /** Resolves where it could answer a request; rejects with the reason where it could not. */
  check(signal: AbortSignal): Promise<void>;
  /** It was down and is back: whatever was loaded into it before may be gone. */
  cameBack(): Promise<void>;
  /** Requests that it has altogether, those of others included; null where it does not say. */
  queued(signal: AbortSignal): Promise<number | null>;
  /** To be told as soon as it is known to be down. */
  onDown: (reason: unknown) => void;
}

/** `serving` takes requests; the others do not. `out`: down, or failed too often in a row. */
export type WorkerState = 'serving' | 'draining' | 'loading' | 'out';

/** One policy behind the pool: its state, and what is in flight. */
export class PolicyWorker {
  readonly id: string;
  readonly policy: Policy;
  /** Null for a policy of this process: once it is out it stays out. */
  readonly circuit: Circuit | null;
  state: WorkerState = 'serving';
  inFlight = 0;
  /** Requests of others that it has, as far as it says. */
  foreign = 0;
  /** Since the last reply that came. */
  failures = 0;
  readonly #drained: (() => void)[] = [];
  readonly #onBusy: ((change: 1 | -1, id: string) => void) | undefined;

  /** @param onBusy told when it gets a request while it has none, +1, and when the last one has come back, −1. */
  constructor(id: string, policy: Policy, circuit: Circuit | null, onBusy?: (change: 1 | -1, id: string) => void) {
    this.id = id;
    this.policy = policy;
    this.circuit = circuit;
    this.#onBusy = onBusy;
  }

  /** Whether a request may be sent to it now. After it was out, one at a time until one went well. */
  get takes(): boolean {
    return this.state === 'serving' && (this.circuit?.state !== 'half-open' || this.inFlight === 0);
  }

  /** What a new request would have to share it with. */
  get load(): number {
    return this.inFlight + this.foreign;
  }

  async act(request: PolicyRequest): Promise<PolicyReply> {
    this.inFlight += 1;
    if (this.inFlight === 1) this.#onBusy?.(1, this.id);
    try {
      const reply = await this.policy.act(request);
      this.failures = 0;
      return reply;
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) {
        this.#onBusy?.(-1, this.id);
        for (const drained of this.#drained.splice(0)) drained();
      }
    }
  }

  /** Resolves when nothing is in flight. */
  drain(): Promise<void> {
    if (this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drained.push(resolve));
  }

  get canLoad(): boolean {
    return 'load' in this.policy && typeof this.policy.load === 'function';
  }

  loadVersion(version: number, path: string): Promise<void> {
    return (this.policy as LoadablePolicy).load(version, path);
  }
}

/** The policy as one that is watched, or null for one of this process. */
export function watchedOf(policy: Policy): WatchedPolicy | null {
  return 'check' in policy ? (policy as WatchedPolicy) : null;
}
