import { DartError } from '../errors.ts';
import type { Guest, ResettableGuest } from '../guest/guest.ts';
import { type Env, SCHEMA_VERSION } from '../stream/records.ts';
import {
  CannotStart,
  DesktopUsedUp,
  type Driver,
  type Environment,
  NO_WAITS,
  OSWORLD_WAITS,
  type ProtocolWaits,
  SESSION_WAITS,
} from './environment.ts';

/** How a desktop is reached, and how one takes another's place. */
export interface AttachOptions {
  connect: (env: Env, signal?: AbortSignal) => Promise<Guest>;
  /** Asks for a clean desktop in the place of one whose record has a `replace_url`. */
  replace?: (env: Env, signal?: AbortSignal) => Promise<Env>;
}

/**
 * Desktops that run already and answer the OSWorld server's API, one for each env record. They are neither started nor
 * stopped here. One that cannot reset itself, and that nobody replaces, serves a single rollout: a second one would begin
 * on a used desktop.
 */
export class AttachDriver implements Driver {
  readonly name = 'attach';
  readonly capacity: number;
  readonly #places: AttachedPlace[];
  readonly #options: AttachOptions;

  /** @throws DartError on an env record without a server. */
  constructor(envs: readonly Env[], options: AttachOptions) {
    const without = envs.find((env) => env.server_url === null);
    if (without) throw new DartError('this desktop has no server_url', { where: without.env_id });
    this.#places = envs.map((env) => ({
      env,
      used: false,
      met: false,
      resets: env.resets ?? (env.driver === 'embedded' || null),
    }));
    this.#options = options;
    this.capacity = envs.length;
  }

  async start(index: number, _id: string, signal?: AbortSignal): Promise<Environment> {
    const place = this.#places[index]!;
    if (place.used && place.resets !== true) await this.#replace(place, signal);
    const guest = await this.#connect(place, signal);
    place.met = true;
    const { env } = place;
    return {
      ...{ id: env.env_id, driver: env.driver, guest, waits: waitsOf(env), serverUrl: env.server_url! },
      ...{ cdpUrl: env.cdp_url ?? undefined, vlcUrl: env.vlc_url ?? undefined, vncUrl: env.vnc_url ?? undefined },
      get disposable() {
        return place.used && place.resets !== true;
      },
      reset: (seed) => resetAttached(place, guest, seed),
      close: async () => {},
    };
  }

  /** One that does not answer is replaced where that can be asked for. */
  async #connect(place: AttachedPlace, signal?: AbortSignal): Promise<Guest> {
    try {
      return await this.#look(place, signal);
    } catch (error) {
      // It was asked several times: the pool need not begin all over.
      if (!place.env.replace_url) throw place.met ? error : unmet(error);
      await this.#replace(place, signal);
      return this.#look(place, signal);
    }
  }

  /** A first look tells a desktop that does not answer before a task is spent on it. */
  async #look({ env }: AttachedPlace, signal?: AbortSignal): Promise<Guest> {
    const guest = await this.#options.connect(env, signal);
    await guest.screenshot();
    return guest;
  }

  async #replace(place: AttachedPlace, signal?: AbortSignal): Promise<void> {
    if (!place.env.replace_url || !this.#options.replace) throw new DesktopUsedUp(place.env.env_id);
    place.env = await this.#options.replace(place.env, signal);
    place.used = false;
  }
}

interface AttachedPlace {
  env: Env;
  used: boolean;
  /** It has answered before. */
  met: boolean;
  /** Whether its server can reset it; null: not known before it is asked. */
  resets: boolean | null;
}

/** Nobody is there, and has not been. */
function unmet(error: unknown): unknown {
  if (!(error instanceof DartError)) return error;
  const { message, where, hint, cause } = error;
  return new CannotStart(message, { where, hint, cause });
}

/** Back to a clean desktop: by its server, or because it is one still. */
async function resetAttached(place: AttachedPlace, guest: Guest, seed: number): Promise<void> {
  if (place.resets !== false && isResettable(guest)) {
    try {
      await guest.reset(seed);
      place.resets = true;
      return;
    } catch (error) {
      if (place.resets === true || !lacksReset(error)) throw error;
    }
  }
  place.resets = false;
  if (place.used) throw new DesktopUsedUp(place.env.env_id);
  place.used = true;
}

function isResettable(guest: Guest): guest is ResettableGuest {
  return 'reset' in guest && typeof guest.reset === 'function';
}

/** OSWorld's own server does not know the request. */
function lacksReset(error: unknown): boolean {
  const cause = error instanceof DartError ? error.cause : undefined;
  return cause instanceof Error && /^status (404|405)\b/.test(cause.message);
}

/** What its record says of its waits; OSWorld's runner's for a real desktop of which nothing is known. */
function waitsOf({ driver, waits }: Env): ProtocolWaits {
  if (waits) {
    const { after_reset_s, after_action_s, before_evaluate_s } = waits;
    return {
      afterResetMs: after_reset_s * 1000,
      afterActionMs: after_action_s * 1000,
      beforeEvaluateMs: before_evaluate_s * 1000,
    };
  }
  if (driver === 'embedded') return NO_WAITS;
  return driver === 'xvfb' || driver === 'kubernetes' ? SESSION_WAITS : OSWORLD_WAITS;
}

/** The driver for desktops behind servers, over HTTP. */
export async function openAttached(envs: readonly Env[]): Promise<AttachDriver> {
  const { connectResettable } = await import('../guest/http_client.ts');
  const { replaceOverHttp } = await import('./replace.ts');
  return new AttachDriver(envs, {
    connect: ({ env_id: id, server_url }, signal) => connectResettable(server_url!, { id, signal }),
    replace: replaceOverHttp,
  });
}

/**
 * The driver for servers of which nothing but the address is known.
 * @throws DartError on what is no address, or one that is given twice.
 */
export function openServers(urls: readonly string[]): Promise<AttachDriver> {
  return openAttached(urls.map(recordOf));
}

/** What is known of a desktop by its address alone; its screen is asked for later. */
function recordOf(url: string, index: number, urls: readonly string[]): Env {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new DartError('not the URL of a server', {
      where: `attach, URL ${index + 1}`,
      hint: 'http://127.0.0.1:5000',
    });
  }
  const { host, pathname } = new URL(url);
  const id = host + pathname.replace(/\/+$/, '');
  if (urls.indexOf(url) !== index) throw new DartError('this desktop is given twice', { where: id });
  return {
    ...{ type: 'env', v: SCHEMA_VERSION, env_id: id, driver: 'attach', state: 'ready', server_url: url },
    ...{ screen: { width: 0, height: 0 }, boot_ms: 0 },
  };
}
