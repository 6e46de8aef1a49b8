import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Fields } from '../fields.ts';
import type { MetricInput } from '../kinds.ts';
import { sameUrl } from '../urls.ts';
import { browserMetrics } from './browser.ts';

interface Golden {
  urls: { first: string; second: string; same: boolean }[];
  metrics: { metric: string; result: unknown; rules: unknown; score: number }[];
}

/** What OSWorld's Python gave (fixtures/documents/browser/make.py). */
const golden: Golden = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', '..', '..', 'fixtures', 'documents', 'browser', 'golden.json'), 'utf8'),
);

function score(name: string, result: unknown, expected: unknown, more: Partial<MetricInput> = {}) {
  const options = new Fields('options', 't1', {});
  return browserMetrics[name]!({ result, expected, options, name, where: 't1', ...more });
}

describe('addresses', () => {
  it.each(golden.urls)('$first and $second: $same', ({ first, second, same }) => {
    expect(sameUrl(first, second)).toBe(same);
  });
});

describe('metrics of the browser', () => {
  it.each(golden.metrics.map((row, index) => ({ ...row, index })))('$metric $index', async (row) => {
    expect(await score(row.metric, row.result, row.rules)).toBe(row.score);
  });

  it('each have a 1 and a 0 among those numbers', () => {
    const scores = (name: string) => new Set(golden.metrics.filter((row) => row.metric === name).map((r) => r.score));
    const names = Object.keys(browserMetrics);
    expect(names.filter((name) => !(scores(name).has(1) && scores(name).has(0)))).toEqual([]);
  });

  it.each([
    ['is_cookie_deleted', { type: 'domains', domains: ['a.com'] }],
    ['check_history_deleted', { type: 'keywords', keywords: ['a'] }],
    ['check_enabled_experiments', { type: 'names', names: [] }],
    ['is_added_to_steam_cart', { items: [] }],
    ['is_shortcut_on_desktop', { type: 'name', name: 'a' }],
    ['check_font_size', { type: 'value', value: 16 }],
  ])('%s: 0 where there is nothing to look at', async (name, rules) => {
    expect(await score(name, null, rules)).toBe(0);
  });

  it('is_expected_tabs: only strict counts how often an address is open', async () => {
    const open = ['https://a.com', 'https://c.com'].map((url) => ({ url }));
    const rules = { type: 'url', urls: ['https://a.com', 'https://a.com'] };
    expect(await score('is_expected_tabs', open, rules)).toBe(1);
    expect(await score('is_expected_tabs', open, rules, { fidelity: 'strict' })).toBe(0);
    const twice = ['https://www.a.com/', 'https://a.com'].map((url) => ({ url }));
    expect(await score('is_expected_tabs', twice, rules, { fidelity: 'strict' })).toBe(1);
  });

  it.each([
    ['is_expected_tabs', [{ url: 'u' }], { type: 'title' }, 'unknown rule type title'],
    ['is_cookie_deleted', [], { type: 'names' }, 'type should be "domains", but is "names"'],
    ['is_shortcut_on_desktop', {}, { type: 'url' }, 'type should be "name" or "exec", but is "url"'],
    ['check_enabled_experiments', [], { type: 'x' }, 'type should be "names", but is "x"'],
    ['is_added_to_steam_cart', { content: '' }, {}, 'items should be a list of strings, but is missing'],
  ])('%s: rules that make no sense are an error', async (name, result, rules, message) => {
    await expect((async () => score(name, result, rules))()).rejects.toThrow(message);
  });
});
