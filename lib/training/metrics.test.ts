import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { metricSchema } from '../stream/records.ts';
import { metricRecords, progressLine, TRAIN_METRICS } from './metrics.ts';

describe('metrics', () => {
  it.each(Object.entries(TRAIN_METRICS))('%s is in docs/metrics.md as the trainer defines it', (name, [unit, text]) => {
    const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8');
    expect(page).toContain(`| \`${name}\` | ${unit || '–'} | ${text.replaceAll('|', '\\|')} |`);
  });

  it('makes valid records, null where a number is not finite', () => {
    const records = metricRecords({ 'train/loss': 0.5, 'train/grad_norm': Number.NaN, 'train/lr': 1e-4 }, 7);
    expect(records.map((r) => metricSchema.parse(r))).toEqual([
      { type: 'metric', v: 1, name: 'train/loss', value: 0.5, unit: 'nats', update: 7 },
      { type: 'metric', v: 1, name: 'train/grad_norm', value: null, update: 7 },
      { type: 'metric', v: 1, name: 'train/lr', value: 1e-4, update: 7 },
    ]);
  });

  it('shows in one line what there is', () => {
    expect(progressLine({ 'train/loss': 0.12345, 'train/groups': 3 }, 2)).toBe('update 2: loss 0.1235, groups 3');
  });
});
