import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { smallWorkload } from '../../lib/rollout/simulate/workload.testing.ts';
import { spec } from './spec.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-simulate-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'small.json'), JSON.stringify(smallWorkload({ desktops: 4 })));

async function simulate(...args: string[]) {
  const io = testIo({ cwd: folder });
  const code = await runCommand(
    spec,
    ['simulate', ...(args.includes('--workload') ? [] : ['--workload', 'small.json']), ...args],
    io,
  );
  const figures = new Map(io.records().map((record) => [`${record.mode ?? ''} ${record.name}`, record]));
  return { code, io, figures };
}

describe('dart-rollout simulate', () => {
  it('compares both modes: 33 s of rollouts in a cycle of 100 s, against rollouts all the time', async () => {
    const { code, figures, io } = await simulate('--mode', 'both', '--hours', '10', '--table');
    expect(code).toBe(0);
    expect(figures.get('batch env_utilisation')).toMatchObject({ type: 'metric', value: expect.closeTo(0.33, 9) });
    expect(figures.get('batch worker_utilisation')!.value).toBeCloseTo(0.12, 9);
    expect(figures.get('batch updates_per_hour')!.value).toBeCloseTo(36, 9);
    expect(figures.get('batch staleness/0')!.value).toBe(1);
    // One worker: while it loads, for 10 s after each update, requests wait, within a live rollout.
    expect(figures.get('async env_utilisation')).toMatchObject({
      ...{ value: expect.closeTo(1, 9), against: 'batch', ratio: expect.closeTo(1 / 0.33, 6) },
    });
    expect(figures.get('async actions_per_minute')!.ratio).toBeGreaterThan(2.4);
    expect(io.records().at(-1)).toMatchObject({ type: 'summary', workload: 'small', desktops: 4, workers: 1 });
    expect(io.err()).toContain('async env_utilisation');
  });

  it('takes numbers from the command line, and workers from GPUs', async () => {
    const { io } = await simulate('--desktops', '2', '--gpus', '3', '--hours', '1');
    expect(io.records().at(-1)).toMatchObject({ desktops: 2, workers: 3 });
    const twice = await simulate('--workers', '2', '--gpus', '3');
    expect([twice.code, twice.io.err()]).toEqual([2, expect.stringContaining('say the same thing twice')]);
  });

  it('reads latencies from trajectories', async () => {
    const step = (index: number) => ({
      ...{
        index,
        observation: { screenshot: { sha256: 'a'.repeat(64), media_type: 'image/png', width: 1, height: 1 } },
      },
      response: { text: 'Action: wait()', token_ids: [], logprobs: [], finish_reason: 'stop' },
      ...{ prompt: { history: 0 }, model_version: 0, actions: [], policy_ms: 2000, env_ms: 1000 },
    });
    const trajectory = {
      ...{ type: 'trajectory', v: 1, trajectory_id: 't', run_id: 'r', group_id: 'g', group_size: 1, rollout_index: 0 },
      ...{ task_id: 'os/a', domain: 'os', instruction: 'x', env_id: 'e', policy: { name: 'p', versions: [0] } },
      ...{ sampling: { temperature: 1 }, limits: { max_steps: 2 }, steps: [step(0), step(1)], reward: 1 },
      ...{ outcome: 'success', started_at: '2026-01-01T00:00:00.000Z', finished_at: '2026-01-01T00:00:10.000Z' },
    };
    writeFileSync(join(folder, 'rollouts.ndjson'), `${JSON.stringify(trajectory)}\n`);
    const { figures, code } = await simulate('--from', 'rollouts.ndjson', '--hours', '10', '--desktops', '1');
    expect(code).toBe(0);
    // 4 s of reset and evaluation, twice 2 s of the policy and once 1 s of the desktop: 9 s; every load adds to that.
    const rate = figures.get('async trajectories_per_minute')!.value as number;
    expect(rate).toBeLessThan(60 / 9);
    expect(rate).toBeGreaterThan(0.7 * (60 / 9));
  });

  it('finds how many desktops a worker can serve', async () => {
    const slowdown: [number, number][] = [
      [1, 1],
      [100, 100],
    ];
    writeFileSync(join(folder, 'full.json'), JSON.stringify(smallWorkload({ tasks: 50, slowdown })));
    const { figures } = await simulate('--workload', 'full.json', '--sweep', '--hours', '1');
    const best = figures.get(' best_desktops_per_worker')!.value as number;
    expect(figures.has(` sweep/${best}`)).toBe(true);
  });

  it('says so where no number of desktops was enough, and why with --from', async () => {
    writeFileSync(
      join(folder, 'flat.json'),
      JSON.stringify(smallWorkload({ tasks: 50, rollouts: 8, slowdown: [[1, 1]] })),
    );
    const { figures, io } = await simulate('--workload', 'flat.json', '--sweep', '--hours', '0.3', '--table');
    const best = figures.get(' best_desktops_per_worker')!;
    expect([best.value, best.at_least]).toEqual([null, expect.any(Number)]);
    expect(io.err()).toContain(`a worker is not full with 256 desktops: at least ${best.at_least} for each`);
    expect(io.err()).toContain(`≥ ${best.at_least}`);
  });

  it('refuses a workload in which nothing takes time, instead of going on for ever', async () => {
    const none = { shape: 'constant', value: 0 } as const;
    const workload = smallWorkload({ reset: none, step: none, inference: none, evaluation: none });
    writeFileSync(join(folder, 'zero.json'), JSON.stringify(workload));
    for (const more of [[], ['--sweep'], ['--mode', 'both']]) {
      const { code, io } = await simulate('--workload', 'zero.json', '--hours', '1', ...more);
      expect([code, io.out()]).toEqual([2, '']);
      expect(io.err()).toContain('a rollout of this workload takes 0 s: the virtual clock would never get on');
    }
  });

  it('names what is wrong with a workload', async () => {
    writeFileSync(join(folder, 'bad.json'), '{"name":"bad"}');
    const { code, io } = await simulate('--workload', 'bad.json');
    expect([code, io.err()]).toEqual([2, expect.stringMatching(/bad\.json: about: .*\n?/)]);
  });
});
