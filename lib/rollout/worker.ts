import type { Policy, PolicyReply, PolicyRequest } from '../policy/policy.ts';

/** A policy that can change to another published version; the others serve one version for ever. */
export interface LoadablePolicy extends Policy {
  /** Answers with this version from the next request on. Rejects, and keeps the old one, where it cannot be read. */
  load(version: number, path: string): Promise<void>;
}

/** `serving` takes requests; the others do not. `out`: failed too often in a row. */
export type WorkerState = 'serving' | 'draining' | 'loading' | 'out';

/** One policy behind the pool: its state, and what is in flight. */
export class PolicyWorker {
  readonly id: string;
  readonly policy: Policy;
  state: WorkerState = 'serving';
  inFlight = 0;
  /** Since the last reply that came. */
  failures = 0;
  readonly #drained: (() => void)[] = [];

  constructor(id: string, policy: Policy) {
    this.id = id;
    this.policy = policy;
  }

  async act(request: PolicyRequest): Promise<PolicyReply> {
    this.inFlight += 1;
    try {
      const reply = await this.policy.act(request);
      this.failures = 0;
      return reply;
    } finally {
      this.inFlight -= 1;
      if (this.inFlight === 0) for (const drained of this.#drained.splice(0)) drained();
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

  load(version: number, path: string): Promise<void> {
    return (this.policy as LoadablePolicy).load(version, path);
  }
}
