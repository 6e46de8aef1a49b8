import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { change, counted, fixed, gain, markdownTable, share, withSection } from './report.ts';

describe('tables', () => {
  it('are Markdown, with a dash for what is not known', () => {
    expect(markdownTable({ head: ['a', 'b'], rows: [['x|y', null]] })).toBe('| a | b |\n|---|---|\n| x\\|y | – |');
  });

  it('show gains with their interval, where there is one', () => {
    expect(gain({ value: 0.042, low: -0.01, high: 0.094, pairs: 5 })).toBe('+4.2 pt (−1.0 pt … +9.4 pt)');
    expect(gain({ value: 0.042, low: null, high: null, pairs: 1 })).toBe('+4.2 pt');
    expect(change({ value: 0.042, low: -0.01, high: 0.094, pairs: 5 })).toBe('+0.04 (−0.01 … +0.09)');
    expect([change({ value: -0.5, low: null, high: null, pairs: 1 }, 1), change(null)]).toEqual(['−0.5', null]);
    expect([gain(null), share(null), share(0.5, 0), fixed(undefined), fixed(1.25, 1)]).toEqual([
      ...[null, null, '50%', null, '1.3'],
    ]);
  });
});

describe('counted', () => {
  it('knows one from many', () => {
    expect([counted(1, 'run'), counted(0, 'run'), counted(2, 'batch', 'batches')]).toEqual([
      ...['1 run', '0 runs', '2 batches'],
    ]);
  });
});

describe('docs/results.md', () => {
  it('takes a section between its marks, and nothing else changes', () => {
    const page = 'before\n<!-- a -->\nold\n<!-- /a -->\nafter\n';
    const once = withSection(page, { name: 'a', text: 'new' });
    expect(once).toBe('before\n<!-- a -->\n\nnew\n\n<!-- /a -->\nafter\n');
    expect(withSection(once, { name: 'a', text: 'new' })).toBe(once);
    expect(() => withSection(page, { name: 'b', text: '' })).toThrow('are not there');
  });

  it('has a place for every section', () => {
    const page = readFileSync(join(packageRoot(), 'docs/results.md'), 'utf8');
    for (const name of ['settings', 'conditions', 'ablation', 'arpo', 'rollout-scaling'])
      expect(withSection(page, { name, text: 'x' })).toContain(`<!-- ${name} -->\n\nx\n\n<!-- /${name} -->`);
  });
});
