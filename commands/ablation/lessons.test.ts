import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../lib/cli/paths.ts';
import { trajectory } from '../../lib/store/trajectories.testing.ts';
import { SUITES } from './evaluations.ts';
import {
  demonstrationsOf,
  lastLessons,
  lessons,
  stuckIn,
  successesOf,
  TAUGHT,
  UNTAUGHT,
  withEnding,
} from './lessons.ts';

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
    expect(lastLessons().map((lesson) => lesson.tasks)).toEqual([partly, partly, partly, partly, UNTAUGHT, UNTAUGHT]);
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

  it('get stuck before the last action: what follows waits before the same screen', () => {
    const beginnings = new Set<number>();
    for (let index = 0; index < 200; index += 1) {
      const made = trajectory({ id: `episode-${index}` });
      const steps = Array.from({ length: 4 }, (_, at) => ({
        ...made.steps[0]!,
        index: at,
        observation: { screenshot: { ...made.steps[0]!.observation.screenshot, sha256: String(at) } },
        actions: [{ type: 'click' as const, x: at, y: 0 }],
      }));
      const stuck = stuckIn({ ...made, steps }, 10).steps;
      const begun = stuck.filter(({ actions }) => actions[0]!.type === 'click').length;
      beginnings.add(begun);
      expect(stuck.slice(0, begun)).toEqual(steps.slice(0, begun));
      expect(stuck.length).toBe(begun + 10);
      for (const [at, { index, observation, response, prompt, actions }] of stuck.slice(begun).entries()) {
        expect([index, observation.screenshot.sha256, response.text]).toEqual([
          begun + at,
          String(begun),
          'Action: wait()',
        ]);
        expect([prompt.history, actions]).toEqual([begun + at, [{ type: 'wait' }]]);
      }
    }
    expect([...beginnings].sort()).toEqual([0, 1, 2]);
    const none = { ...trajectory({ id: 'none' }), steps: [] };
    expect(stuckIn(none, 10)).toBe(none);
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
