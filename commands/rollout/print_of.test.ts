import { expect, it } from 'vitest';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { printOf } from './print_of.ts';

it('prints what is of this run, in order, and counts it', async () => {
  const printed: AnyRecord[] = [];
  const write = async (record: AnyRecord) => void printed.push(record);
  const given = ['a', 'b', 'c'].map((id) => ({ ...trajectory({ id }), run_id: id === 'b' ? 'other' : 'run1' }));
  expect(await printOf('run1', given, { write })).toBe(2);
  expect(printed).toEqual([given[0], given[2]]);
});
