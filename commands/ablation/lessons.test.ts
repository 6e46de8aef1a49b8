import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import { SUITES } from './evaluations.ts';
import { demonstrationsOf, lastLessons, lessons, successesOf, TAUGHT, UNTAUGHT, withEnding } from './lessons.ts';

const idsOf = (folder: string) =>
  readdirSync(join(packageRoot(), folder), { recursive: true }).flatMap((path) =>
    String(path).endsWith('.json') ? [basename(String(path), '.json')] : [],
  );

describe('the lessons of the base policy', () => {
  it('are of training tasks, each in one tier, and of no held-out one', () => {
    const training = idsOf(SUITES.train);
    const heldout = new Set(idsOf(SUITES.heldout));
    const [taught, partly, wandering, waiting, ...lost] = lessons().map((lesson) => lesson.tasks);
    expect([...taught!, ...partly!, ...lost[0]!].sort()).toEqual(training.sort());
    expect([wandering, waiting]).toEqual([partly, partly]);
    expect(lost).toEqual([UNTAUGHT, UNTAUGHT]);
    expect(lastLessons().map((lesson) => lesson.tasks)).toEqual([partly, partly, partly, UNTAUGHT]);
    expect(training.filter((id) => heldout.has(id))).toEqual([]);
    expect([TAUGHT.length, UNTAUGHT.length]).toEqual([20, 15]);
  });

  it('lose their endings in the share that is asked for, the same ones each time', () => {
    const episodes = Array.from({ length: 400 }, (_, index) => {
      const made = trajectory({ id: `episode-${index}` });
      const last = { ...made.steps.at(-1)!, actions: [{ type: 'finished' as const }] };
      return { ...made, steps: [...made.steps.slice(0, -1), last] };
    });
    const kept = (share: number) =>
      episodes.filter((each) => withEnding(each, share).steps.length === each.steps.length).map((e) => e.trajectory_id);
    expect([kept(0).length, kept(1).length]).toEqual([0, 400]);
    expect(Math.abs(kept(0.5).length - 200)).toBeLessThan(40);
    expect(kept(0.5)).toEqual(kept(0.5));
    const open = { ...episodes[0]!, steps: episodes[0]!.steps.map((step) => ({ ...step, actions: [] })) };
    expect(withEnding(open, 0)).toBe(open);
  });

  it('are read from a file: the successes whole, or every episode without its ending', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'lessons-'));
    const path = join(dir, 'episodes.ndjson');
    const [won, lost] = [1, 0].map((reward) => ({ ...trajectory({ id: `reward-${reward}` }), reward }));
    const ended = { ...won!, steps: [{ ...won!.steps[0]!, actions: [{ type: 'finished' as const }] }] };
    const others = { type: 'summary', v: 1, command: 'dart-rollout' };
    writeFileSync(path, [won, lost, ended, others].map((record) => `${JSON.stringify(record)}\n`).join(''));
    const ids = (text: string) => text.split('\n').flatMap((line) => (line ? [JSON.parse(line).trajectory_id] : []));
    expect(ids(await successesOf(path))).toEqual(['reward-1', 'reward-1']);
    // The third has its ending and nothing else.
    expect(ids(await demonstrationsOf({ ...lessons()[0]!, endings: 0 }, path))).toEqual(['reward-1', 'reward-0']);
    rmSync(dir, { recursive: true });
  });
});
