import { DartError } from '../errors.ts';
import { serveGuest } from '../guest/http_server.ts';
import { AnySignal } from '../stream/any_signal.ts';
import type { Env } from '../stream/records.ts';
import type { Environment } from './environment.ts';
import type { EnvironmentPool } from './pool.ts';
import { envRecord } from './record.ts';

export interface HoldOptions {
  /** How many to hold. */
  count: number;
  runId?: string;
  /** Ports from here on for desktops in this process, one each; 0 takes any that are free. */
  port: number;
  /** Where to ask for a clean desktop in the place of a used one; absent: nowhere. */
  replaceUrl?: string;
  signal?: AbortSignal;
}

interface Held {
  lease: Environment;
  env: Env;
  /** Takes the server away that was put before a desktop in this process. */
  unserve(): Promise<void>;
}

/** Desktops of a pool that are kept for whoever reads their records; each behind a server, its own or one of ours. */
export class HeldDesktops {
  readonly #pool: EnvironmentPool;
  readonly #options: HoldOptions;
  readonly #held: Held[] = [];
  readonly #ports: number[];

  constructor(pool: EnvironmentPool, options: HoldOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#ports = Array.from({ length: options.count }, (_, i) => (options.port === 0 ? 0 : options.port + i));
  }

  /** Records of the desktops that are held now, in the order in which they became ready. */
  get envs(): Env[] {
    return this.#held.map(({ env }) => env);
  }

  /**
   * Takes all desktops, and tells of each as soon as it can be used. One that could not be started is done without.
   * @throws where none could be started, or one cannot be served.
   */
  async start(ready: (env: Env) => Promise<void>): Promise<void> {
    const { count, signal } = this.#options;
    // Where fewer desktops are left than are wanted, so many waits are given up.
    const waits = Array.from({ length: count }, () => new AbortController());
    const open = new Set(waits);
    const shrink = () => {
      const missing = open.size + this.#held.length - this.#pool.size;
      for (const wait of [...open].slice(open.size - Math.max(0, missing))) {
        open.delete(wait);
        wait.abort(new Unavailable());
      }
    };
    this.#pool.onRetirement(shrink);
    shrink();
    const ends = await Promise.allSettled(
      waits.map(async (wait) => {
        const stop = new AnySignal([signal, wait.signal]);
        const lease = await this.#pool.lease(stop.signal).finally(() => {
          open.delete(wait);
          stop.release();
        });
        await ready(await this.#hold(lease));
      }),
    );
    this.#pool.onRetirement(() => {});
    const failed = ends.flatMap((end) =>
      end.status === 'rejected' && !(end.reason instanceof Unavailable) ? [end.reason] : [],
    );
    if (failed.length > 0) throw failed[0];
    // Says why there is none.
    if (this.#held.length === 0) await this.#pool.lease(signal);
  }

  /**
   * Gives a used desktop back and holds a clean one in its place.
   * @returns the record of the new one.
   * @throws DartError for a desktop that is not held (any more), or where no other can be had.
   */
  async replace(envId: string): Promise<Env> {
    const index = this.#held.findIndex(({ env }) => env.env_id === envId);
    if (index < 0) throw new DartError('no such desktop is held here', { where: envId });
    const [old] = this.#held.splice(index, 1) as [Held];
    await old.unserve();
    this.#pool.release(old.lease, { spent: true });
    return this.#hold(await this.#pool.lease(this.#options.signal));
  }

  /** Takes away the servers that are ours; the pool closes the desktops. */
  async close(): Promise<void> {
    await Promise.all(this.#held.splice(0).map((held) => held.unserve()));
  }

  async #hold(lease: Environment): Promise<Env> {
    const { runId, replaceUrl } = this.#options;
    let unserve = async () => {};
    let url = lease.serverUrl;
    if (url === undefined) {
      const server = await serveGuest(lease.guest, { port: this.#ports.shift() ?? 0 });
      url = server.url;
      unserve = async () => {
        await server.close();
        this.#ports.push(server.port);
      };
    }
    const env = envRecord(lease, 'ready', {
      server_url: url,
      boot_ms: this.#pool.bootMs(lease),
      ...(runId === undefined ? {} : { run_id: runId }),
      ...(lease.disposable === true ? { resets: false } : {}),
      ...(replaceUrl === undefined ? {} : { replace_url: replaceUrl }),
    });
    this.#held.push({ lease, env, unserve });
    return env;
  }
}

/** Fewer desktops are left than were asked for; the pool has told why. */
class Unavailable extends Error {}
