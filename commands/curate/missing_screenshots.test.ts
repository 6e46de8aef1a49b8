import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Sketch, trajectory } from '../../lib/store/trajectories.testing.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import { curateIn, lines } from './curate.testing.ts';

/** What --blobs lacks must not reach a trainer: neither by the stream nor by the experience pool. */
let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-missing-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const curate = (args: string[], input?: string) => curateIn(cwd, args, input);
const STORE = ['--store', 'sqlite:dart.db'];
const BLOBS = ['--blobs', 'blobs'];
const success = (id: string, changes: Partial<Sketch> = {}) => trajectory({ id, reward: 1, steps: 1, ...changes });
/** Two failures, which ask the pool for a success. */
const failures = (group: string) => [0, 1].map((i) => trajectory({ id: `${group}.${i}`, group, index: i, steps: 1 }));

/** Puts the screenshots of one-step trajectories where --blobs looks. */
async function picture(...ids: string[]): Promise<void> {
  const blobs = new BlobStore(join(cwd, 'blobs'));
  for (const id of ids) await blobs.put(Buffer.from(`${id} 0`));
}

describe('a stored success without its screenshots', () => {
  it.each(['dart', 'arpo'])('is passed over for the next, with an event (%s)', async (preset) => {
    await curate(['pool', 'add', ...STORE], lines([success('old'), success('new')]));
    await picture('old', 'g1.0', 'g1.1');
    // ARPO draws by the group's name; with one left either rule ends at it.
    const { code, records, of } = await curate([...STORE, ...BLOBS, '--preset', preset], lines(failures('g1')));
    const about = records.filter((record) => record.event === 'success_passed_over');
    expect(code).toBe(0);
    expect(of('sample').map((sample) => sample.trajectory_id)).toContain('old');
    expect(about.every((event) => event.trajectory_id === 'new' && event.reason === 'missing_screenshot')).toBe(true);
    if (preset === 'dart') expect(about).toMatchObject([{ group_id: 'g1', run_id: 'run1', task_id: 'chrome/t1' }]);
  });

  it('helps no group where it is the only one', async () => {
    await curate(['pool', 'add', ...STORE], lines([success('gone')]));
    await picture('g1.0', 'g1.1');
    const { code, records } = await curate([...STORE, ...BLOBS], lines(failures('g1')));
    expect(code).toBe(1);
    expect(records.map((record) => record.reason ?? record.type)).toEqual([
      'missing_screenshot',
      'no_success_stored',
      'summary',
    ]);
  });

  it('does not enter the pool by a trajectory of no group either', async () => {
    await picture('g1.0', 'g1.1');
    const { of } = await curate(BLOBS, lines([success('loose', { group: '' }), ...failures('g1')]));
    expect(of('sample')).toEqual([]);
  });
});

describe('dart-curate pool add', () => {
  it('leaves out successes whose screenshots are not in --blobs, and says so', async () => {
    await picture('here');
    const input = lines([success('here'), success('gone')]);
    const { code, summary, stderr, records } = await curate(['pool', 'add', ...STORE, ...BLOBS], input);
    expect([code, summary.added]).toEqual([0, 1]);
    expect(summary.rejected).toEqual({ missing_screenshot: 1, no_steps: 0 });
    expect(records[0]).toMatchObject({ reason: 'missing_screenshot', trajectory_id: 'gone' });
    expect(stderr).toContain('warning: 1 of 2 trajectories were left out: their screenshots are not in blobs. Try: ');
  });

  it('leaves out successes without steps, and says so', async () => {
    const input = lines([success('empty', { steps: 0 }), success('whole')]);
    const { summary, stderr, records } = await curate(['pool', 'add', ...STORE], input);
    expect(summary).toMatchObject({ trajectories: 2, successes: 1, added: 1 });
    expect(records[0]).toMatchObject({ event: 'trajectory_rejected', reason: 'no_steps', trajectory_id: 'empty' });
    expect(stderr).toContain('warning: left out: 1 successes without a step');
    const alone = await curate(['pool', 'add', ...STORE], lines([success('empty', { steps: 0 })]));
    expect([alone.code, alone.summary.added]).toEqual([1, 0]);
  });
});
