import type { Guest } from '../guest/guest.ts';
import { type GuestServer, serveGuest } from '../guest/http_server.ts';
import { type Env, SCHEMA_VERSION } from '../stream/records.ts';
import type { Driver } from './environment.ts';

export interface ServeOptions {
  /** Ports from here on, one for each desktop; 0 takes any that are free. */
  port: number;
  /** Begins the ids of the desktops; to be unlike those of other commands. */
  name: string;
  signal?: AbortSignal;
}

interface Running {
  env: Env;
  close(): Promise<void>;
}

/** Desktops of one driver, each behind a server of its own on loopback (reference/osworld.md §1). */
export class ServedDesktops {
  readonly #driver: Driver;
  readonly #options: ServeOptions;
  readonly #running: Running[] = [];

  constructor(driver: Driver, options: ServeOptions) {
    this.#driver = driver;
    this.#options = options;
  }

  /** Records of the desktops that run, in the order in which they became ready. */
  get envs(): Env[] {
    return this.#running.map(({ env }) => env);
  }

  /**
   * Starts all desktops at once, and tells of each as soon as it can be used.
   * @throws DartError where one does not start: those that did go on until `close`.
   */
  async start(ready: (env: Env) => Promise<void>): Promise<void> {
    const places = Array.from({ length: this.#driver.capacity }, (_, place) => place);
    const ends = await Promise.allSettled(places.map(async (place) => ready(await this.#start(place))));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /** Removes every desktop. */
  async close(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((running) => running.close()));
  }

  async #start(place: number): Promise<Env> {
    const { port, name, signal } = this.#options;
    const begin = performance.now();
    const environment = await this.#driver.start(place, `${name}-${place}`, signal);
    let server: GuestServer;
    try {
      signal?.throwIfAborted();
      server = await serveGuest(environment.guest, { port: port === 0 ? 0 : port + place });
    } catch (error) {
      await environment.close();
      throw error;
    }
    const env = recordOf(environment.guest, environment.driver, server.url, performance.now() - begin);
    this.#running.push({
      env,
      close: async () => {
        await server.close();
        await environment.close();
      },
    });
    return env;
  }
}

function recordOf(guest: Guest, driver: string, url: string, bootMs: number): Env {
  return {
    type: 'env',
    v: SCHEMA_VERSION,
    env_id: guest.id,
    driver,
    state: 'ready',
    server_url: url,
    cdp_url: null,
    vlc_url: null,
    vnc_url: null,
    screen: { ...guest.screen },
    boot_ms: Math.round(bootMs * 10) / 10,
  };
}
