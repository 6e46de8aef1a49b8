import { DartError } from '../errors.ts';
import type { Guest, ResettableGuest } from '../guest/guest.ts';
import type { Env } from '../stream/records.ts';
import { type Driver, type Environment, NO_WAITS, type ProtocolWaits } from './environment.ts';

/** OSWorld's runner waits so long for a real desktop (reference/osworld.md §5). */
const REAL_WAITS: ProtocolWaits = { afterResetMs: 60_000, afterActionMs: 2_000, beforeEvaluateMs: 20_000 };

/**
 * Desktops that run already and answer the OSWorld server's API, one for each env record. They are neither started nor
 * stopped here. One that cannot reset itself serves a single rollout: a second one would begin on a used desktop.
 */
export class AttachDriver implements Driver {
  readonly name = 'attach';
  readonly capacity: number;
  readonly #envs: readonly Env[];
  readonly #connect: (env: Env) => Promise<Guest>;
  readonly #used = new Set<string>();

  /** @throws DartError on an env record without a server. */
  constructor(envs: readonly Env[], connect: (env: Env) => Promise<Guest>) {
    const without = envs.find((env) => env.server_url === null);
    if (without) throw new DartError('this desktop has no server_url', { where: without.env_id });
    this.#envs = envs;
    this.#connect = connect;
    this.capacity = envs.length;
  }

  async start(place: number): Promise<Environment> {
    const env = this.#envs[place]!;
    const guest = await this.#connect(env);
    // A first look tells a desktop that does not answer before a task is spent on it.
    await guest.screenshot();
    return {
      id: env.env_id,
      driver: env.driver,
      guest,
      waits: env.driver === 'embedded' ? NO_WAITS : REAL_WAITS,
      serverUrl: env.server_url!,
      reset: (seed) => this.#reset(guest, seed),
      close: async () => {},
    };
  }

  async #reset(guest: Guest, seed: number): Promise<void> {
    if (isResettable(guest)) return guest.reset(seed);
    if (this.#used.has(guest.id)) {
      throw new DartError('this desktop was used and cannot go back to a clean state by itself', {
        where: guest.id,
        hint: 'a driver that replaces desktops, such as --env embedded:4',
      });
    }
    this.#used.add(guest.id);
  }
}

function isResettable(guest: Guest): guest is ResettableGuest {
  return 'reset' in guest && typeof guest.reset === 'function';
}
