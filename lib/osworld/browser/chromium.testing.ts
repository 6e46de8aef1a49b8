import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';
import { chromiumPath } from '../../report/trajectory/chromium.testing.ts';
import { FakeGuest } from '../guest.testing.ts';
import { selfSigned } from './certificate.testing.ts';

export { chromiumPath };

const FLAGS = ['--headless=new', '--no-sandbox', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage'];
const PROFILE = '/home/user/.config/google-chrome';

/** A real Chromium with a profile of its own, as a task would have started it. */
export class RealBrowser {
  readonly #process: ChildProcess;
  readonly cdpUrl: string;

  private constructor(process: ChildProcess, cdpUrl: string) {
    this.#process = process;
    this.cdpUrl = cdpUrl;
  }

  static async start(profile: string, flags: string[] = []): Promise<RealBrowser> {
    const options = [...FLAGS, '--remote-debugging-port=0', `--user-data-dir=${profile}`, ...flags, 'about:blank'];
    const child = spawn(chromiumPath!, options, { stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const line of createInterface({ input: child.stderr! })) {
      const port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      if (port === undefined) continue;
      child.stderr!.resume();
      return new RealBrowser(child, `http://127.0.0.1:${port}`);
    }
    throw new Error('Chromium ended before it listened');
  }

  /** Ends it as a user would, so that it writes its profile. */
  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    // A signal ends it before it has written its history.
    const browser = await chromium.connectOverCDP(this.cdpUrl);
    const session = await browser.newBrowserCDPSession();
    await session.send('Browser.close').catch(() => {});
    await exit;
  }
}

/** A folder for a profile, with files (JSON or text) in it by their names. */
export function profileFolder(files: Record<string, unknown> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'dart-chromium-'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** A desktop whose browser has a real profile in `folder`. */
export class ProfileGuest extends FakeGuest {
  readonly #folder: string;

  constructor(folder: string) {
    super();
    this.#folder = folder;
  }

  override async readFile(path: string): Promise<Uint8Array | null> {
    const real = this.#real(path);
    return real !== null && existsSync(real) ? readFileSync(real) : null;
  }

  override async writeFile(path: string, data: Uint8Array): Promise<void> {
    const real = this.#real(path);
    if (real === null) throw new Error(`${path} is not of the profile`);
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(real, data);
  }

  #real(path: string): string | null {
    return path.startsWith(`${PROFILE}/`) ? join(this.#folder, path.slice(PROFILE.length)) : null;
  }
}

/**
 * Web pages on loopback, by path, over HTTP and HTTPS; each sets a cookie. A page that shows `{cookie}` shows what the
 * browser sent.
 */
export class Site {
  readonly pages: Record<string, string> = {};
  readonly #answer = (request: IncomingMessage, response: ServerResponse) => {
    const page = this.pages[(request.url ?? '').replace(/[?#].*/, '')];
    response.writeHead(page === undefined ? 404 : 200, {
      'content-type': 'text/html; charset=utf-8',
      'set-cookie': 'seen=yes; Max-Age=86400',
    });
    response.end((page ?? 'not found').replace('{cookie}', request.headers.cookie ?? 'none'));
  };
  readonly #plain = createServer(this.#answer);
  readonly #secure = createSecureServer(selfSigned(), this.#answer);

  async start(): Promise<this> {
    for (const server of [this.#plain, this.#secure]) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    return this;
  }

  url(path: string): string {
    return `http://127.0.0.1:${portOf(this.#plain)}${path}`;
  }

  /** Flags of a browser that takes this site, and no other, for all of these hosts. */
  flagsFor(...hosts: string[]): string[] {
    const rules = hosts.map((host) => `MAP ${host} 127.0.0.1:${portOf(this.#secure)}`);
    return [`--host-resolver-rules=${rules.join(',')}`, '--ignore-certificate-errors'];
  }

  close(): void {
    for (const server of [this.#plain, this.#secure]) {
      server.closeAllConnections();
      server.close();
    }
  }
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
