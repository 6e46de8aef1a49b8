import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contextOf, type TaskOptions } from '../context.ts';
import { get, showing, task } from '../getters/browser/browser.testing.ts';
import { FakeGuest } from '../guest.testing.ts';
import { setupTask } from '../setup.ts';
import { normaliseTask } from '../task.ts';
import { Unsupported } from '../unsupported.ts';
import { chromiumPath, profileFolder, RealBrowser, removeFolder } from './chromium.testing.ts';
import { BrowserUnreachable, withBrowser } from './connection.ts';

/** Nobody listens there. */
const NOBODY = 'http://127.0.0.1:1';
const NO_WAITS = { sleepScale: 0 };

const connect = (options: TaskOptions, tries = { count: 3, pauseMs: 5_000 }) =>
  withBrowser(
    contextOf(task, new FakeGuest(), { protocol: NO_WAITS, ...options }),
    'the step',
    tries,
    async (browser) => browser.isConnected(),
  );

describe('withBrowser', () => {
  it('is unsupported on a desktop without a debugging port', async () => {
    const failing = connect({});
    await expect(failing).rejects.toBeInstanceOf(Unsupported);
    await expect(failing).rejects.toThrow('the step cannot be carried out without a debugging port');
  });

  it('asks as often as it is told, and says where nobody answers', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.writeHead(404).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const cdpUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const error = await connect({ cdpUrl }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BrowserUnreachable);
    expect((error as Error).message).toMatch(new RegExp(`^the step: no browser answers at ${cdpUrl}: .*404`));
    expect(asked).toBe(3);
    server.close();
  });

  it('ends its waiting when the task is aborted', async () => {
    const abort = new AbortController();
    const waiting = connect({ cdpUrl: NOBODY, signal: abort.signal, protocol: { sleepScale: 1_000 } });
    abort.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow();
  });
});

describe('getters without a browser', () => {
  const ask = (type: string, guest: FakeGuest, config = {}) =>
    get(type, guest, config, { cdpUrl: NOBODY, protocol: NO_WAITS });
  const launched = ['launch google-chrome --remote-debugging-port=1337'];

  it('start one, and then take what OSWorld takes for the doing of the agent', async () => {
    const guest = showing('a.test');
    expect(await ask('open_tabs_info', guest)).toEqual([]);
    expect(guest.calls).toEqual(launched);
    expect(await ask('active_tab_html_parse', showing('a.test'), { category: 'class' })).toBeNull();
    const failed = { title: 'Connection failed', url: 'http://x.test/', content: '' };
    expect(await ask('page_info', showing('a.test'), { url: 'http://x.test/' })).toEqual(failed);
  });

  it('gotoRecreationPage_and_get_html_content fails: what it brings is what is expected', async () => {
    const type = 'gotoRecreationPage_and_get_html_content';
    const failing = ask(type, showing('a.test'), { selector: 'class', class: 'x' });
    await expect(failing).rejects.toThrow(`${type}: no browser answers at ${NOBODY}`);
    const odd = ask(type, showing('a.test'), { selector: 'id', class: 'x' });
    await expect(odd).rejects.toThrow('selector should be "class", but is "id"');
  });

  it('active_tab_info starts none', async () => {
    const guest = showing('a.test');
    expect(await ask('active_tab_info', guest)).toBeNull();
    expect(guest.calls).toEqual([]);
  });

  it('reject where the desktop itself is gone: that is no score', async () => {
    const guest = showing('a.test');
    guest.platform = async () => Promise.reject(new Error('the desktop is gone'));
    await expect(ask('open_tabs_info', guest)).rejects.toThrow('the desktop is gone');
    await expect(ask('active_tab_info', guest)).rejects.toThrow('the desktop is gone');
  });

  it('chrome_appearance_mode_ui reads the profile instead', async () => {
    const preferences = JSON.stringify({ browser: { theme: { color_scheme2: 2 } } });
    const guest = new FakeGuest().put('/home/user/.config/google-chrome/Default/Preferences', preferences);
    expect(await ask('chrome_appearance_mode_ui', guest)).toBe('dark');
  });

  it('are unsupported where the desktop has no debugging port', async () => {
    const url = 'http://x.test/';
    for (const [type, config] of [
      ['page_info', { url }],
      ['active_tab_info', {}],
      ['active_tab_html_parse', { category: 'class' }],
      ['pdf_from_url', { path: url, dest: 'x' }],
      ['info_from_website', { url, infos: [] }],
      ['gotoRecreationPage_and_get_html_content', { selector: 'class', class: 'x' }],
    ] as const) {
      const failing = get(type, showing('a.test'), config);
      await expect(failing, type).rejects.toBeInstanceOf(Unsupported);
    }
  });
});

describe('set-up steps without a browser', () => {
  const play = (type: string, parameters: object, options: TaskOptions) => {
    const config = [{ type, parameters }];
    const one = normaliseTask({ id: 't1', instruction: 'do it', config, evaluator: { func: 'infeasible' } }, 'x');
    return setupTask(one, new FakeGuest(), { protocol: NO_WAITS, ...options });
  };

  it('fail and say so', async () => {
    const opening = play('chrome_open_tabs', { urls_to_open: ['http://a.test'] }, { cdpUrl: NOBODY });
    await expect(opening).rejects.toThrow(`chrome_open_tabs): no browser answers at ${NOBODY}`);
    const unheard = play('chrome_close_tabs', { urls_to_close: ['http://a.test'] }, { cdpUrl: NOBODY });
    await expect(unheard).rejects.toThrow(`chrome_close_tabs): no browser answers at ${NOBODY}`);
    const malformed = play('chrome_close_tabs', { urls_to_close: [1] }, { cdpUrl: NOBODY });
    await expect(malformed).rejects.toThrow('urls_to_close should be a list of strings');
    const closing = play('chrome_close_tabs', { urls_to_close: ['http://a.test'] }, {});
    await expect(closing).rejects.toBeInstanceOf(Unsupported);
  });
});

describe.skipIf(chromiumPath === null)('withBrowser and a real Chromium', () => {
  const profile = chromiumPath === null ? '' : profileFolder();
  let browser: RealBrowser;

  beforeAll(async () => {
    browser = await RealBrowser.start(profile);
  });

  afterAll(async () => {
    await browser?.close();
    removeFolder(profile);
  });

  it('leaves the browser running, also by a name that is no address', async () => {
    expect(await connect({ cdpUrl: browser.cdpUrl })).toBe(true);
    expect(await connect({ cdpUrl: browser.cdpUrl.replace('127.0.0.1', 'localhost') })).toBe(true);
  });

  it('disconnects when the task is aborted in the middle of its work', async () => {
    const abort = new AbortController();
    const context = contextOf(task, new FakeGuest(), { cdpUrl: browser.cdpUrl, signal: abort.signal });
    const working = withBrowser(context, 'the step', { count: 1, pauseMs: 0 }, async (connected) => {
      const page = await connected.contexts()[0]!.newPage();
      abort.abort(new Error('enough'));
      await page.waitForSelector('#never');
    });
    await expect(working).rejects.toThrow('enough');
    expect(await connect({ cdpUrl: browser.cdpUrl })).toBe(true);
  });

  it('takes nothing from a browser that went away', async () => {
    const context = contextOf(task, new FakeGuest(), { cdpUrl: browser.cdpUrl });
    const working = withBrowser(context, 'the step', { count: 1, pauseMs: 0 }, async (connected) => {
      const gone = new Promise((resolve) => connected.on('disconnected', resolve));
      await browser.close();
      await gone;
      return 'read';
    });
    await expect(working).rejects.toBeInstanceOf(BrowserUnreachable);
    await expect(working).rejects.toThrow('the step: the browser went away');
  });
});
