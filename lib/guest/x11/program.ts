import { DartError } from '../../errors.ts';
import { type Env, SCHEMA_VERSION } from '../../stream/records.ts';
import type { Size } from '../guest.ts';
import { type GuestServer, serveGuest } from '../http_server.ts';
import { X11Guest } from './guest.ts';
import { desktopUser } from './user.ts';

/** The variable with the token that clients must show; a flag would show it to everybody who lists processes. */
export const TOKEN_VARIABLE = 'DART_GUEST_TOKEN';

export interface GuestProgram {
  /** `env_id` of the record, and the desktop's name in messages. */
  id: string;
  port: number;
  host?: string;
  token?: string;
  /** Another host than loopback without a token. */
  open?: boolean;
  size: Size;
  home?: string;
  skeleton?: string;
  /** Name of the user whose programs they are. */
  user?: string;
  display?: number;
  start?: readonly string[];
}

/** A desktop behind its server. */
export interface RunningGuest {
  env: Env;
  guest: X11Guest;
  close(): Promise<void>;
}

/** Starts a desktop and puts it on OSWorld's endpoints: one process, the session's supervisor and the server in front. */
export async function startGuest(program: GuestProgram): Promise<RunningGuest> {
  const { id, port, host, token, open, user, size, home, skeleton, display, start } = program;
  const begin = performance.now();
  const guest = await X11Guest.start(id, { user: desktopUser(user), size, home, skeleton, display, start });
  let server: GuestServer;
  try {
    server = await serveGuest(guest, { port, host, token, open, downloads: true });
  } catch (error) {
    await guest.close();
    throw error;
  }
  const env: Env = {
    type: 'env',
    v: SCHEMA_VERSION,
    env_id: id,
    driver: 'xvfb',
    state: 'ready',
    server_url: server.url,
    cdp_url: null,
    vlc_url: null,
    vnc_url: null,
    screen: { ...size },
    boot_ms: Math.round(performance.now() - begin),
  };
  const close = async () => {
    await server.close();
    await guest.close();
  };
  return { env, guest, close };
}

/** `1280x800`. @throws DartError */
export function parseSize(text: string): Size {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(text) ?? [];
  const size = { width: Number(width), height: Number(height) };
  // X's own limit, and what programs can still be used in.
  if (size.width >= 64 && size.height >= 64 && size.width <= 16_384 && size.height <= 16_384) return size;
  throw new DartError(`${JSON.stringify(text)} is no size of a screen`, { where: '--size', hint: '1280x800' });
}
