import { ringAfter, type Timer } from '../../stream/timer.ts';
import { BatchServer } from './server.ts';

/** Timers of Node fire up to a millisecond early or late; what is due within half of one is done. */
const EARLY_MS = 0.5;

/** A server with continuous batching in real time: what a simulation does with its clock, with a timer. */
export class RealTimeServer {
  readonly #server: BatchServer;
  readonly #waiting = new Map<number, () => void>();
  #timer: Timer | undefined;
  #ids = 0;

  constructor(slowdown: (requests: number) => number) {
    this.#server = new BatchServer(slowdown);
  }

  /**
   * Resolves when a request of so much work (milliseconds, alone on the server) is done. Rejects with the signal's reason
   * when it aborts first; the others are faster then.
   */
  async work(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const id = this.#ids++;
    const done = new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    const abandon = () => {
      this.#server.abandon(performance.now(), id);
      this.#done(id);
    };
    signal?.addEventListener('abort', abandon, { once: true });
    this.#server.admit(performance.now(), ms, id);
    this.#wind();
    await done;
    signal?.removeEventListener('abort', abandon);
    signal?.throwIfAborted();
  }

  #done(id: number): void {
    this.#waiting.get(id)?.();
    this.#waiting.delete(id);
    this.#wind();
  }

  #wind(): void {
    this.#timer?.stop();
    const at = this.#server.nextAt;
    if (!Number.isFinite(at)) return;
    const ms = at - performance.now();
    this.#timer = ringAfter(Math.max(0, Math.round(ms)), () => this.#ring());
  }

  #ring(): void {
    while (this.#server.nextAt <= performance.now() + EARLY_MS) {
      const id = this.#server.finish(Math.max(performance.now(), this.#server.nextAt));
      this.#waiting.get(id)?.();
      this.#waiting.delete(id);
    }
    this.#wind();
  }
}
