import type { Container } from 'dockerode';
import type { Guest } from '../../guest/guest.ts';
import { NoAnswer } from '../../guest/http_exchange.ts';
import { causeOfDeath } from './container.ts';

/** How long Docker may take to say that a container is over after its server has gone. */
const SETTLE_MS = 5000;

/**
 * Watches over one container: breaks off what is asked of its desktop when it ends, and says why instead of how the
 * connection broke.
 */
export class Vigil {
  readonly #container: Container;
  readonly #env: string;
  readonly #ended = new AbortController();
  readonly #over = new AbortController();

  constructor(container: Container, env: string) {
    this.#container = container;
    this.#env = env;
    void this.#watch();
  }

  /** Aborts when the container ends, with the DartError that says why. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The end of the watch; the end of the container is no news after it. */
  close(): void {
    this.#over.abort();
  }

  /** The same guest; a call that fails because the container has ended rejects with why it has. */
  over<G extends Guest>(guest: G): G {
    return new Proxy(guest, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => this.#explained(member.apply(target, args));
      },
    });
  }

  /** The error that `error` comes from, if the container has ended; else `error` itself. */
  async explain(error: unknown): Promise<unknown> {
    if (this.#ended.signal.aborted) return this.#ended.signal.reason;
    return (await causeOfDeath(this.#container, this.#env)) ?? error;
  }

  #explained(result: unknown): unknown {
    if (!(result instanceof Promise)) return result;
    return result.catch(async (error: unknown) => {
      throw await this.#explainSoon(error);
    });
  }

  /** A server is gone a moment before Docker knows of it. */
  async #explainSoon(error: unknown): Promise<unknown> {
    const first = await this.explain(error);
    if (first !== error || !isBroken(error)) return first;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, SETTLE_MS);
      this.#ended.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
    return this.explain(error);
  }

  async #watch(): Promise<void> {
    try {
      await this.#container.wait({ abortSignal: this.#over.signal });
    } catch {
      // The watch is over, or Docker has gone: then a call that fails will ask again.
      return;
    }
    const cause = await causeOfDeath(this.#container, this.#env).catch(() => null);
    if (cause && !this.#over.signal.aborted) this.#ended.abort(cause);
  }
}

/** Whether the connection broke, rather than that the guest said no. */
function isBroken(error: unknown): boolean {
  return (error as { cause?: unknown }).cause instanceof NoAnswer;
}
