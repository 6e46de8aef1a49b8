interface Waiter<T> {
  resolve: (item: T) => void;
  reject: (error: unknown) => void;
}

/** Those who wait for something, first come, first served. */
export class Waiters<T> {
  readonly #waiters: Waiter<T>[] = [];

  get count(): number {
    return this.#waiters.length;
  }

  /** @param first Whether the caller had its turn before, in vain. */
  wait(first: boolean, signal?: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
        reject(signal!.reason);
      };
      const settle = () => signal?.removeEventListener('abort', stop);
      const waiter: Waiter<T> = {
        resolve: (item) => {
          settle();
          resolve(item);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      if (first) this.#waiters.unshift(waiter);
      else this.#waiters.push(waiter);
    });
  }

  /** Serves the one who has waited longest. */
  serve(item: T): void {
    this.#waiters.shift()?.resolve(item);
  }

  /** Nobody is going to be served. */
  disappoint(error: unknown): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }
}
