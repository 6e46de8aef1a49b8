import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DartError } from '../errors.ts';
import type { Bridge } from './bridge/kinds.ts';
import { BRIDGED } from './check.ts';
import { FakeGuest } from './guest.testing.ts';
import { STEPS, setupTask } from './setup.ts';
import { normaliseTask } from './task.ts';
import { Unsupported } from './unsupported.ts';

const HISTORY = '/home/user/.config/google-chrome/Default/History';

function taskWith(...config: object[]) {
  return normaliseTask({ id: 't1', instruction: 'do it', config, evaluator: { func: 'infeasible' } }, 'x');
}

const step = (type: string, parameters: object) => ({ type, parameters });

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'did not fail',
    (error: DartError) => error.describe(),
  );
}

describe('setupTask', () => {
  it('plays the steps in order, filling templates', async () => {
    const guest = new FakeGuest();
    const task = taskWith(
      step('write_file', { path: '/a', content: 'hé' }),
      step('launch', { command: ['app', '{SCREEN_WIDTH_HALF}'] }),
      step('launch', { command: 'app one two' }),
      step('execute', { command: 'echo {CLIENT_PASSWORD} {SCREEN_HEIGHT} {OTHER}', shell: 'true' }),
      step('command', { command: ['ls'] }),
      step('open', { path: '/a' }),
      step('activate_window', { window_name: 'App', strict: true }),
      step('close_window', { window_name: 'App', by_class: true }),
      step('chrome_open_tabs', { urls_to_open: ['https://a.test', 'https://b.test'] }),
    );
    const before = JSON.stringify(task);
    await setupTask(task, guest, { protocol: { clientPassword: 'pw' } });
    expect(guest.text('/a')).toBe('hé');
    expect(guest.calls).toEqual([
      'launch app 960',
      'launch app one two (shell)',
      'execute echo pw 1080 {OTHER} (shell)',
      'execute ls',
      'open /a',
      'activate App {"strict":true,"byClass":false}',
      'close App {"strict":false,"byClass":true}',
      'launch google-chrome https://a.test',
      'launch google-chrome https://b.test',
    ]);
    expect(JSON.stringify(task)).toBe(before);
  });

  it('names step and task where a step is unknown or malformed or fails', async () => {
    const guest = new FakeGuest();
    expect(await failure(setupTask(taskWith(step('replay', {})), guest))).toMatch(
      /^t1: set-up step config\[0\] \(replay\) is not supported\. Try: one of .*write_file/,
    );
    expect(await failure(setupTask(taskWith(step('open', { path: 3 })), guest))).toBe(
      't1: config[0] (open): path should be a string, but is 3',
    );
    guest.openFile = async () => Promise.reject(new Error('no such file'));
    expect(await failure(setupTask(taskWith(step('open', { path: '/x' })), guest))).toBe(
      't1: set-up step config[0] (open) failed: no such file',
    );
    const hint = 'another file';
    guest.openFile = async () => Promise.reject(new DartError('no such file', { where: 'd1', hint }));
    expect(await failure(setupTask(taskWith(step('open', { path: '/x' })), guest))).toBe(
      't1: set-up step config[0] (open) failed: d1: no such file. Try: another file',
    );
    await expect(setupTask(taskWith(step('open', { path: '/x' })), guest)).rejects.toMatchObject({ hint });
  });

  it('keeps standard output for the cache, and repeats until told', async () => {
    const guest = new FakeGuest();
    guest.outputs.set('probe', { output: 'ready', returncode: 3 });
    const cache = new Map<string, Uint8Array>();
    const until = (rule: object) => taskWith(step('execute', { command: ['probe'], stdout: 'out.txt', until: rule }));
    await setupTask(until({ stdout: 'ready' }), guest, { cache, protocol: { sleepScale: 0 } });
    expect(Buffer.from(cache.get('out.txt')!).toString()).toBe('ready');
    expect(guest.calls).toHaveLength(1);
    const message = await failure(setupTask(until({ returncode: 0 }), guest, { protocol: { sleepScale: 0 } }));
    expect(message).toBe('t1: config[0] (execute): "until" was not met in 5 tries');
    expect(guest.calls).toHaveLength(6);
  });

  it('waits as the protocol says, and stops when told', async () => {
    const guest = new FakeGuest();
    const task = taskWith(step('sleep', { seconds: 3600 }), step('open', { path: '/a' }));
    await setupTask(task, guest, { protocol: { sleepScale: 0 } });
    expect(guest.calls).toEqual(['open /a']);
    const stop = new AbortController();
    const running = setupTask(task, guest, { signal: stop.signal });
    stop.abort(new Error('stopped'));
    await expect(running).rejects.toThrow();
    expect(guest.calls).toHaveLength(1);
  });
});

/** A step with parameters that make no sense, and with a desktop that does not do its part; what is said of each. */
const FAILING: [type: string, wrong: object, said: string, sound: object][] = [
  ['write_file', { path: '/a' }, 'content should be a string, but is missing', { path: '/a', content: 'x' }],
  ['download', { files: 'a' }, 'files should be a list, but is "a"', { files: [{ url: 'data:,x', path: '/a' }] }],
  ['open', {}, 'path should be a string, but is missing', { path: '/a' }],
  ['launch', { command: 3 }, 'command should be a string or a list of strings, but is 3', { command: 'app' }],
  ['execute', {}, 'command should be a string or a list of strings, but is missing', { command: 'app' }],
  ['command', {}, 'command should be a string or a list of strings, but is missing', { command: 'app' }],
  ['execute_with_verification', {}, 'command should be a string or a list of strings', { command: 'app' }],
  ['activate_window', {}, 'window_name should be a string, but is missing', { window_name: 'App' }],
  ['close_window', { window_name: 1 }, 'window_name should be a string, but is 1', { window_name: 'App' }],
  ['change_wallpaper', {}, 'path should be a string, but is missing', { path: '/a.png' }],
  ['chrome_open_tabs', {}, 'urls_to_open should be a list of strings', { urls_to_open: ['http://a.test'] }],
  ['update_browse_history', { history: [{ url: 'u' }] }, 'visit_time_from_now_in_seconds should be', { history: [] }],
];

describe('a step that cannot be carried out', () => {
  /** A desktop that does nothing that a step asks of it. */
  const deaf = () => {
    const gone = () => Promise.reject(new Error('the desktop is gone'));
    const parts = ['writeFile', 'openFile', 'launch', 'execute', 'activateWindow', 'closeWindow', 'setWallpaper'];
    return Object.assign(new FakeGuest(), Object.fromEntries(parts.map((part) => [part, gone])));
  };

  it.each(FAILING)('%s fails, and says why', async (type, wrong, said, sound) => {
    const malformed = await failure(setupTask(taskWith(step(type, wrong)), new FakeGuest()));
    expect(malformed).toContain(`t1: config[0] (${type})`);
    expect(malformed).toContain(said);
    const undone = await failure(setupTask(taskWith(step(type, sound)), deaf()));
    expect(undone).toBe(`t1: set-up step config[0] (${type}) failed: the desktop is gone`);
  });

  it('is tested for every step', async () => {
    const sleepless = await failure(setupTask(taskWith(step('sleep', { seconds: 'long' })), new FakeGuest()));
    expect(sleepless).toBe('t1: config[0] (sleep): seconds should be a number, but is "long"');
    // Only a browser closes tabs: browser/connection.test.ts has the step without one.
    const others = ['sleep', 'chrome_close_tabs', ...BRIDGED.steps];
    const tested = new Set([...FAILING.map(([type]) => type), ...others]);
    expect([...STEPS.keys()].filter((type) => !tested.has(type))).toEqual([]);
  });
});

describe('update_browse_history', () => {
  it('makes a new history of these pages where the browser has none', async () => {
    const guest = new FakeGuest();
    const page = { url: 'https://a.test/', title: 'A', visit_time_from_now_in_seconds: 60 };
    const before = Date.now();
    await setupTask(taskWith(step('update_browse_history', { history: [page] })), guest);
    const database = new Database(Buffer.from(guest.files.get(HISTORY)!));
    const rows = database.prepare('SELECT url, title, last_visit_time FROM urls').all() as Record<string, unknown>[];
    database.close();
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ url: 'https://a.test/', title: 'A' });
    // Microseconds since 1601; a minute before the step was played.
    const visited = Number(rows[0]!.last_visit_time) / 1000 + Date.UTC(1601, 0, 1);
    expect(visited).toBeGreaterThanOrEqual(before - 60_001);
    expect(visited).toBeLessThanOrEqual(Date.now() - 60_000 + 1);
  });
});

describe('download', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'assets-'));
    mkdirSync(join(dir, 'assets', 'vs_code'), { recursive: true });
    writeFileSync(join(dir, 'assets', 'vs_code', 'a b.txt'), 'inside');
    writeFileSync(join(dir, 'secret'), 'outside');
    symlinkSync(join(dir, 'secret'), join(dir, 'assets', 'link'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  const fetch = async (url: string, guest = new FakeGuest()) => {
    const task = taskWith(step('download', { files: [{ url, path: '/home/user/f' }] }));
    await setupTask(task, guest, { assetsDir: join(dir, 'assets') });
    return guest.text('/home/user/f');
  };

  it('takes files from the assets folder by the path of their URL', async () => {
    expect(await fetch('https://huggingface.co/datasets/x/resolve/main/vs_code/a%20b.txt?download=1')).toBe('inside');
    expect(await fetch('vs_code/a b.txt')).toBe('inside');
  });

  it('takes data: URLs', async () => {
    expect(await fetch('data:text/plain,a%2Cb%0A')).toBe('a,b\n');
    expect(await fetch('data:;base64,aGk=')).toBe('hi');
  });

  it.each([
    ['../secret', /asset "\.\.\/secret" would leave the assets folder/],
    ['https://x.test/%2e%2e/secret', /would leave the assets folder/],
    ['link', /asset link lies outside the assets folder/],
    ['vs_code/none.txt', /asset vs_code\/none\.txt is missing\. Try: put it at /],
  ])('refuses %s', async (url, message) => {
    expect(await failure(fetch(url))).toMatch(message);
  });

  it('says that there is no assets folder', async () => {
    const task = taskWith(step('download', { files: [{ url: 'https://x.test/a', path: '/a' }] }));
    expect(await failure(setupTask(task, new FakeGuest()))).toMatch(
      /^t1: no assets folder to take https:\/\/x\.test\/a/,
    );
  });
});

describe('steps that look at the result', () => {
  const verified = (parameters: object) =>
    taskWith(step('execute_with_verification', { command: ['run'], ...parameters }));
  const noWaits = { protocol: { sleepScale: 0 } };

  it('execute_with_verification waits for the window and for the other command', async () => {
    const guest = new FakeGuest();
    let asked = 0;
    guest.windows = async () => (asked++ < 2 ? [] : [{ title: 'My App - file', wmClass: 'app' }]);
    guest.outputs.set('failing', { returncode: 1 });
    const verification = { window_exists: 'My App', command_success: 'check' };
    await setupTask(verified({ verification }), guest, noWaits);
    expect(guest.calls).toEqual(['execute run', 'execute check (shell)']);
    expect(asked).toBe(3);
    const failing = verified({ verification: { command_success: 'failing' }, max_wait_time: 3, check_interval: 1 });
    expect(await failure(setupTask(failing, guest, noWaits))).toMatch(/verification failed 3 times/);
    await setupTask(verified({}), guest, noWaits);
    expect(await failure(setupTask(verified({ check_interval: 0 }), guest, noWaits))).toMatch(/more than 0/);
  });

  it('change_wallpaper gives the path to the guest', async () => {
    const guest = new FakeGuest();
    const paths: string[] = [];
    guest.setWallpaper = async (path) => void paths.push(path);
    await setupTask(taskWith(step('change_wallpaper', { path: '/a.png' })), guest);
    expect(paths).toEqual(['/a.png']);
  });

  it.each(['googledrive', 'login'])('%s is unsupported without an OSWorld, and is its work with one', async (type) => {
    const task = taskWith(step(type, { settings_file: 'x.yml' }));
    const error = await setupTask(task, new FakeGuest()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Unsupported);
    const steps: unknown[] = [];
    const bridge = { step: async (...asked: unknown[]) => void steps.push(asked) } as unknown as Bridge;
    await setupTask(task, new FakeGuest(), { bridge, cdpUrl: 'http://127.0.0.1:9222' });
    expect(steps).toEqual([[type, { settings_file: 'x.yml', cdp_url: 'http://127.0.0.1:9222' }]]);
  });
});
