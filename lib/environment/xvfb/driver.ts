import { existsSync, mkdirSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { DartError } from '../../errors.ts';
import type { ResettableGuest } from '../../guest/guest.ts';
import { connectResettable } from '../../guest/http_client.ts';
import { desktopPrograms } from '../../guest/x11/machine.ts';
import { ownerOf } from '../../guest/x11/owner.ts';
import { parseSize } from '../../guest/x11/program.ts';
import { desktopUser } from '../../guest/x11/user.ts';
import { type Driver, type Environment, SESSION_WAITS } from '../environment.ts';
import type { KindValues, OpenOptions } from '../kind.ts';
import { removeOrphans } from './fleet.ts';
import { type DesktopNote, folderOf, logOf, removeNote, writeNote } from './note.ts';
import { ServerProcess } from './server.ts';

export const DRIVER = 'xvfb';

interface XvfbSettings {
  /** Of the guest server. */
  args: string[];
  bootTimeoutMs: number;
  /** 0: any that are free. */
  firstPort: number;
}

/**
 * The driver of `--env xvfb:N,…`, when this machine has what it needs.
 * @throws DartError that says what is missing, and how to get it.
 */
export async function openXvfb(count: number, values: KindValues, options: OpenOptions): Promise<XvfbDriver> {
  const settings = settingsOf(values);
  desktopPrograms();
  if (settings.firstPort > 0 && settings.firstPort + count - 1 > 65_535) {
    throw new DartError(`${count} desktops do not fit between ${settings.firstPort} and 65535`, {
      where: 'xvfb, first-port',
    });
  }
  await removeOrphans();
  return new XvfbDriver(count, settings, options);
}

/** Options as settings. @throws DartError where one cannot be. */
export function settingsOf(values: KindValues): XvfbSettings {
  const { size, skeleton, user, start = [] } = values;
  parseSize(size as string);
  const args = ['--size', size as string];
  if (user !== undefined) args.push('--user', desktopUser(user as string).name);
  if (skeleton !== undefined) {
    const folder = resolve(skeleton as string);
    if (!existsSync(folder) || !statSync(folder).isDirectory()) {
      throw new DartError('there is no such folder', { where: `xvfb, skeleton=${skeleton}` });
    }
    args.push('--skeleton', folder);
  }
  for (const command of start as readonly string[]) args.push(`--start=${command}`);
  return {
    args,
    bootTimeoutMs: (values['boot-timeout'] as number) * 1000,
    firstPort: values['first-port'] as number,
  };
}

/** Desktops under Xvfb, each a process of its own with its own display, buses, home folder and port on loopback. */
export class XvfbDriver implements Driver {
  readonly name = DRIVER;
  readonly capacity: number;
  readonly #settings: XvfbSettings;
  readonly #options: OpenOptions;

  constructor(capacity: number, settings: XvfbSettings, options: OpenOptions) {
    this.capacity = capacity;
    this.#settings = settings;
    this.#options = options;
  }

  async start(place: number, id: string, signal?: AbortSignal): Promise<Environment> {
    signal?.throwIfAborted();
    const { runId: run, detach = false } = this.#options;
    const { firstPort, bootTimeoutMs, args } = this.#settings;
    const note: DesktopNote = {
      ...{ id, run, owner: ownerOf(), detached: detach, created_at: new Date().toISOString() },
      ...{ server: null, server_url: null },
    };
    mkdirSync(folderOf(id), { recursive: true, mode: 0o700 });
    writeNote(note);
    const port = firstPort > 0 ? firstPort + place : 0;
    const server = new ServerProcess(id, ['--port', `${port}`, ...args], logOf(id), detach);
    try {
      if (server.pid !== undefined) writeNote({ ...note, server: ownerOf(server.pid) });
      const { server_url } = await server.ready(bootTimeoutMs, signal);
      server.release();
      writeNote({ ...note, server: ownerOf(server.pid), server_url });
      return await this.#environment(id, server_url!, server);
    } catch (error) {
      await server.end();
      removeNote(id);
      throw error;
    }
  }

  async #environment(id: string, serverUrl: string, server: ServerProcess): Promise<Environment> {
    const guest = explained(await connectResettable(serverUrl, { id, retryDelayMs: 500 }), server);
    return {
      id,
      driver: DRIVER,
      guest,
      waits: SESSION_WAITS,
      serverUrl,
      reset: (seed) => guest.reset(seed),
      close: async () => {
        if (this.#options.detach) return;
        await server.end();
        removeNote(id);
      },
    };
  }
}

/** The same guest; a call that fails because its server has ended rejects with why it has. */
function explained(guest: ResettableGuest, server: ServerProcess): ResettableGuest {
  return new Proxy(guest, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => {
        const result: unknown = member.apply(target, args);
        if (!(result instanceof Promise)) return result;
        return result.catch(async (error: unknown) => {
          throw await server.explain(error);
        });
      };
    },
  });
}
