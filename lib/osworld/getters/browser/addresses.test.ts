import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeGuest } from '../../guest.testing.ts';
import { browserGetters } from '../browser.ts';
import { get, golden, showing } from './browser.testing.ts';

const STRICT = { protocol: { fidelity: 'strict' } } as const;

describe('active_url_from_accessTree', () => {
  it('puts the prefix before what the address bar shows', async () => {
    expect(await get('active_url_from_accessTree', showing('a.test/b'))).toBe('https://a.test/b');
    const config = { goto_prefix: 'https://www.' };
    expect(await get('active_url_from_accessTree', showing('a.test'), config)).toBe('https://www.a.test');
    expect(await get('active_url_from_accessTree', showing('chrome://settings'), { goto_prefix: '' })).toBe(
      'chrome://settings',
    );
  });

  it('puts it before a whole address too, except under strict', async () => {
    const whole = showing('https://a.test/');
    expect(await get('active_url_from_accessTree', whole)).toBe('https://https://a.test/');
    expect(await get('active_url_from_accessTree', whole, {}, STRICT)).toBe('https://a.test/');
  });

  it('reads Chromium, and is null without a browser or with an empty bar', async () => {
    const chromium = showing('a.test', new FakeGuest(), 'Chromium');
    expect(await get('active_url_from_accessTree', chromium)).toBe('https://a.test');
    const editor = showing('a.test', new FakeGuest(), 'Code');
    for (const guest of [editor, showing(''), new FakeGuest()]) {
      expect(await get('active_url_from_accessTree', guest)).toBeNull();
    }
  });
});

describe('parts of the address', () => {
  it.each(golden.addresses)('$getter of $url $config', async ({ getter, url, config, value }) => {
    expect(await get(getter, showing(url), { ...config, goto_prefix: '' })).toEqual(value);
    expect(await get(getter, new FakeGuest(), config)).toBeNull();
  });

  it('a key to replace that is not parsed, and an unknown type, are errors of the task', async () => {
    const replace = { parse_keys: ['a'], replace: { b: 'c' } };
    await expect(get('active_tab_url_parse', showing('a.test?a=1'), replace)).rejects.toThrow('among the parse_keys');
    const part = { partIndex: 0, returnType: 'list' };
    await expect(get('url_dashPart', showing('a.test'), part)).rejects.toThrow(
      'returnType should be "string" or "json"',
    );
  });
});

it('every getter of the browser is named in a test beside it', () => {
  const tests = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  const text = tests.map((name) => readFileSync(join(import.meta.dirname, name), 'utf8')).join();
  const named = [...golden.addresses.map((row) => row.getter), ...Object.keys(golden.preferences[0]!.values)];
  const missing = Object.keys(browserGetters).filter((name) => !text.includes(`'${name}'`) && !named.includes(name));
  expect(missing).toEqual([]);
});
