import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser, BrowserContext } from 'playwright-core';
import { DartError, messageOf } from '../../errors.ts';
import type { TaskContext } from '../context.ts';
import { Unsupported } from '../unsupported.ts';

export interface Tries {
  /** How often the port is asked. */
  count: number;
  /** Between two of them, ms on OSWorld's clock. */
  pauseMs: number;
  /** Starts a browser in the desktop when nobody answers, and asks again: the agent may have closed it. */
  relaunch?: boolean;
}

/** OSWorld's patience with a browser that a set-up step has just started. */
export const SETUP_TRIES: Tries = { count: 15, pauseMs: 5_000 };
/** Its patience when it evaluates: a browser that is gone is started again. */
export const GETTER_TRIES: Tries = { count: 2, pauseMs: 3_000, relaunch: true };

const RELAUNCHED_TRIES: Tries = { count: 3, pauseMs: 5_000 };
const RELAUNCH_COMMAND = ['google-chrome', '--remote-debugging-port=1337'];
const ONE_TRY_MS = 30_000;

/** Nobody answers at the debugging port, though the desktop has one, or the browser broke off. */
export class BrowserUnreachable extends DartError {}

/**
 * Connects to the desktop's browser by its debugging port, hands it to `use` and disconnects; the browser runs on.
 * An aborted task disconnects at once. Throws `Unsupported` on a desktop without that port, `BrowserUnreachable` where
 * nobody answers in so many tries or the browser goes away meanwhile; `owner` is the step or getter, for the message.
 */
export async function withBrowser<T>(
  context: TaskContext,
  owner: string,
  tries: Tries,
  use: (browser: Browser) => Promise<T>,
): Promise<T> {
  const browser = await connect(context, owner, tries);
  const leave = () => void browser.close().catch(() => {});
  context.signal?.addEventListener('abort', leave);
  let cause: unknown;
  try {
    context.signal?.throwIfAborted();
    const value = await use(browser);
    context.signal?.throwIfAborted();
    // What was read of a browser that broke off in between means nothing.
    if (browser.isConnected()) return value;
  } catch (error) {
    context.signal?.throwIfAborted();
    if (browser.isConnected()) throw error;
    cause = error;
  } finally {
    context.signal?.removeEventListener('abort', leave);
    await browser.close().catch(() => {});
  }
  throw new BrowserUnreachable(`${owner}: the browser went away`, { where: context.task.task_id, cause });
}

/** The context of the user's own tabs, with the cookies of the profile. */
export function usersContext(browser: Browser): BrowserContext {
  const context = browser.contexts()[0];
  if (context === undefined) throw new Error('the browser has no window to work in');
  return context;
}

/** Waits `ms` on OSWorld's clock: as long as the protocol's scale makes of it. */
export async function pause(ms: number, { protocol, signal }: TaskContext): Promise<void> {
  const scaled = ms * protocol.sleepScale;
  if (scaled > 0) await delay(scaled, undefined, { signal });
}

/**
 * What OSWorld takes for a state that the agent left (no browser, a page that does not load), once it is certain that
 * the desktop itself is still there. Rejects where it is not: a dead desktop is no score.
 */
export async function agentsDoing<T>(context: TaskContext, value: T): Promise<T> {
  context.signal?.throwIfAborted();
  await context.guest.platform();
  return value;
}

async function connect(context: TaskContext, owner: string, tries: Tries): Promise<Browser> {
  const { cdpUrl, task } = context;
  if (cdpUrl === undefined) {
    throw new Unsupported(`${owner} cannot be carried out without a debugging port of the browser`, {
      where: task.task_id,
      hint: 'a desktop that publishes it, such as --env docker',
    });
  }
  let failure = await attempt(cdpUrl, context, tries);
  if ('browser' in failure) return failure.browser;
  if (tries.relaunch) {
    await context.guest.launch(RELAUNCH_COMMAND);
    await pause(RELAUNCHED_TRIES.pauseMs, context);
    failure = await attempt(cdpUrl, context, RELAUNCHED_TRIES);
    if ('browser' in failure) return failure.browser;
  }
  throw new BrowserUnreachable(`${owner}: no browser answers at ${cdpUrl}: ${failure.reason}`, {
    where: task.task_id,
    hint: 'is the browser started with --remote-debugging-port before this step?',
    cause: failure.cause,
  });
}

type Attempt = { browser: Browser } | { reason: string; cause: unknown };

async function attempt(cdpUrl: string, context: TaskContext, tries: Tries): Promise<Attempt> {
  let last: Attempt = { reason: 'it was not asked', cause: undefined };
  for (let count = 0; count < tries.count; count += 1) {
    if (count > 0) await pause(tries.pauseMs, context);
    context.signal?.throwIfAborted();
    try {
      return { browser: await connectOnce(await withAddress(cdpUrl), context.signal) };
    } catch (cause) {
      context.signal?.throwIfAborted();
      last = { reason: firstLine(messageOf(cause)), cause };
    }
  }
  return last;
}

/** Resolves with the browser, or rejects as soon as `signal` is aborted; a connection that comes later is closed. */
async function connectOnce(url: string, signal?: AbortSignal): Promise<Browser> {
  const { chromium } = await import('playwright-core');
  // Without its defaults the user's own tabs keep their settings: Playwright would emulate focus and media in them.
  const connecting = chromium.connectOverCDP(url, { timeout: ONE_TRY_MS, noDefaults: true });
  if (signal === undefined) return connecting;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    connecting
      .then((browser) => {
        if (signal.aborted) void browser.close().catch(() => {});
        else resolve(browser);
      }, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}

/** The browser answers only to addresses and `localhost`, so another host name gives way to its address. */
async function withAddress(cdpUrl: string): Promise<string> {
  const url = new URL(cdpUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || isIP(host) !== 0) return cdpUrl;
  const { address, family } = await lookup(host);
  url.hostname = family === 6 ? `[${address}]` : address;
  return url.href;
}

function firstLine(text: string): string {
  return text.split('\n')[0]!;
}
