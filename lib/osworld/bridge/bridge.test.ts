import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DartError } from '../../errors.ts';
import { orSkip } from '../../stream/shared.testing.ts';
import { Unsupported } from '../unsupported.ts';
import { openBridge } from './bridge.ts';
import type { Bridge } from './kinds.ts';

const file = (name: string, text: string) => ({ name, bytes: Buffer.from(text) });
const failure = (promise: Promise<unknown>): Promise<DartError> =>
  promise.then(
    () => {
      throw new Error('it did not fail');
    },
    (error: DartError) => error,
  );

const python = spawnSync('python3', ['--version']).status === 0;

/** What stands for an OSWorld here: the same modules and names, with functions that a person can check. */
const METRICS = `
import os
def compare_audios(one, two, factor=1.0):
    print("noise on standard output")
    return factor * os.path.getsize(one) / os.path.getsize(two)
def compare_image_text(path, rule):
    return open(path).read() == rule["text"] and os.path.basename(path) == "ls.png"
def compare_videos(one, two):
    raise ValueError("no video")
def lacking(one):
    import a_module_that_is_not_there
def listed(one, two):
    return one[1] is None and open(one[0]).read() == open(two[0]).read()
def dies(one):
    os._exit(3)
`;
const GETTERS = `
import os
def get_googledrive_file(env, config):
    if config["dest"] == "none": return None
    path = os.path.join(env.cache_dir, config["dest"])
    with open(path, "w") as out: out.write("from " + config["settings_file"])
    return [path, None]
`;
const SETUP = `
class SetupController:
    def __init__(self, vm_ip, server_port=5000, chromium_port=9222, cache_dir="cache"):
        self.place = "%s:%s" % (vm_ip, chromium_port)
    def _login_setup(self, **config):
        if self.place != config["settings_file"]: raise ValueError(self.place)
`;

describe.skipIf(!python)('the Python bridge', () => {
  const root = mkdtempSync(join(tmpdir(), 'dart-osworld-'));
  let bridge: Bridge;

  beforeAll(async () => {
    const modules = { 'evaluators/metrics': METRICS, 'evaluators/getters': GETTERS, 'controllers/setup': SETUP };
    for (const [name, text] of Object.entries(modules)) {
      mkdirSync(join(root, 'desktop_env', name), { recursive: true });
      writeFileSync(join(root, 'desktop_env', name, '__init__.py'), text);
    }
    bridge = await openBridge(root, 'python3');
  });

  afterAll(async () => {
    await bridge.close();
    rmSync(root, { recursive: true });
  });

  it('scores files by what OSWorld says, whatever it prints', async () => {
    expect(await bridge.score('compare_audios', file('a.mp3', '12'), file('a.mp3', '1234'), {})).toBe(0.5);
    expect(await bridge.score('compare_audios', file('a', '1'), file('b', '1234'), { factor: 2 })).toBe(0.5);
    expect(await bridge.score('compare_image_text', file('/home/ls.png', 'ls'), { text: 'ls' }, {})).toBe(1);
    expect(await bridge.score('compare_image_text', file('ls.png', 'ls'), { text: 'cd' }, {})).toBe(0);
    expect(await bridge.score('listed', [file('a', 'x'), null], [file('a', 'x'), file('b', 'y')], {})).toBe(1);
  });

  it('answers several at once', async () => {
    const sizes = [1, 2, 3, 4];
    const scores = sizes.map((size) =>
      bridge.score('compare_audios', file('a', 'x'.repeat(size)), file('b', '1234'), {}),
    );
    expect(await Promise.all(scores)).toEqual([0.25, 0.5, 0.75, 1]);
  });

  it('tells what OSWorld cannot do here from what breaks there', async () => {
    const broken = await failure(bridge.score('compare_videos', file('a', ''), file('b', ''), {}));
    expect(broken.describe()).toContain("OSWorld's compare_videos failed: ValueError: no video");
    expect(broken).not.toBeInstanceOf(Unsupported);
    expect(await failure(bridge.score('lacking', file('a', ''), null, {}))).toBeInstanceOf(Unsupported);
    expect((await failure(bridge.score('no_such', 1, 2, {}))).message).toContain('no_such');
  });

  it('fetches files and carries out steps', async () => {
    const fetched = await bridge.fetch('googledrive_file', { dest: 'a.txt', settings_file: 's.yml' });
    expect(fetched).toEqual([{ name: 'a.txt', bytes: new Uint8Array(Buffer.from('from s.yml')) }, null]);
    expect(await bridge.fetch('googledrive_file', { dest: 'none' })).toBeNull();
    await bridge.step('login', { settings_file: '10.0.0.1:9333', cdp_url: 'http://10.0.0.1:9333' });
    expect((await failure(bridge.step('login', { settings_file: '' }))).message).toContain('127.0.0.1:9222');
  });

  it('fails everything that waits when Python ends, and what is asked after that', async () => {
    const other = await openBridge(root, 'python3');
    // Whichever comes first ends Python for the other.
    const waiting = ['a', 'b'].map((name) => other.score('dies', file(name, ''), null, {}));
    for (const error of await Promise.all(waiting.map(failure)))
      expect(error.describe()).toContain('it ended (exit 3)');
    expect((await failure(other.score('listed', 1, 2, {}))).message).toContain('it ended');
    await other.close();
  });

  it('says where there is no OSWorld and no Python', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'dart-empty-'));
    expect((await failure(openBridge(empty, 'python3'))).describe()).toContain('there is no desktop_env');
    expect((await failure(openBridge(root, 'no-such-python'))).describe()).toContain('no-such-python does not start');
    rmSync(empty, { recursive: true });
  });
});

/** An installed OSWorld with its Python, where the machine has one: `DART_TEST_OSWORLD=DIR`, `DART_TEST_OSWORLD_PYTHON`. */
const osworld = orSkip('osworld', process.env.DART_TEST_OSWORLD ?? null, 'DART_TEST_OSWORLD names no folder');

describe.skipIf(!osworld)('an OSWorld that is installed here', () => {
  it('scores text files', async () => {
    const bridge = await openBridge(osworld!, process.env.DART_TEST_OSWORLD_PYTHON);
    try {
      expect(
        await bridge.score('compare_text_file', file('a', 'x  y\n'), file('b', 'x y'), { ignore_blanks: true }),
      ).toBe(1);
      expect(await bridge.score('compare_text_file', file('a', 'x'), file('b', 'y'), {})).toBe(0);
    } finally {
      await bridge.close();
    }
  }, 120_000);
});
