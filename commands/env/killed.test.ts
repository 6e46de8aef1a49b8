import { describe, expect, it } from 'vitest';
import { docker } from '../../lib/environment/docker/docker.testing.ts';
import { openPool } from '../../lib/environment/open.ts';
import { parseDesktops } from '../../lib/environment/request.ts';
import type { PolicyRequest } from '../../lib/policy/policy.ts';
import { someTask } from '../../lib/policy/request.testing.ts';
import { episodeOptions } from '../../lib/rollout/episode.testing.ts';
import { runRollouts } from '../../lib/rollout/rollouts.ts';
import { RolloutScheduler } from '../../lib/rollout/scheduler.ts';
import { WorkerPool } from '../../lib/rollout/worker_pool.ts';
import type { Trajectory } from '../../lib/stream/records.ts';

const never = new AbortController().signal;

describe.skipIf(!docker)('a container that is killed in the middle of a rollout', { timeout: 300_000 }, () => {
  it('costs nothing but time: the rollout is done on another one, and the counts say so', async () => {
    const runId = `killed-${process.pid}`;
    const request = parseDesktops('docker:1,spares=1,parallel=2,after-reset=0,after-action=0,before-evaluate=0');
    const pool = await openPool(request, { runId });
    const killed: string[] = [];
    const act = async ({ episode }: PolicyRequest) => {
      const env = episode!.split('/').at(-1)!;
      if (killed.length === 0) {
        killed.push(env);
        const filters = JSON.stringify({ label: [`dart.env=${env}`, `dart.run=${runId}`] });
        const [container] = await docker!.listContainers({ filters });
        await docker!.getContainer(container!.Id).kill();
      }
      const text = episode!.includes(killed[0]!) ? 'Action: click(10,10)' : 'Action: finished()';
      return { text, tokenIds: [], logprobs: [], finishReason: 'stop', modelVersion: 0 };
    };
    const policy = { name: 'killer', coordinates: 'absolute' as const, version: 0, act, close: async () => {} };
    const trajectories: Trajectory[] = [];
    const retried: unknown[] = [];
    const group = { group_id: 'g', task: someTask('os/a'), size: 1, members: [0], seed: 1, maxSteps: 3 };
    const groups = [group];
    try {
      await runRollouts({
        runId,
        scheduler: new RolloutScheduler({ next: async () => groups.shift() ?? null }, 2),
        environments: pool,
        workers: new WorkerPool([policy]),
        // A dead desktop that was evaluated would be a reward of 0.
        episode: { ...episodeOptions(), evaluate: async (_, guest) => (guest.id === killed[0] ? 0 : 1) },
        emit: async (trajectory) => void trajectories.push(trajectory),
        onRetry: (_, error) => retried.push((error as Error).message),
        ...{ stop: never, abort: never },
      });
      expect(trajectories).toMatchObject([{ outcome: 'success', reward: 1 }]);
      expect(trajectories[0]!.env_id).not.toBe(killed[0]);
      expect(retried).toEqual([expect.stringContaining('ended with exit code 137')]);
      expect(pool.counts).toMatchObject({ retired: 0, failures: { boot: 0, setup: 0, rollout: 1, idle: 0 } });
    } finally {
      await pool.close();
    }
    const filters = JSON.stringify({ label: [`dart.run=${runId}`] });
    expect(await docker!.listContainers({ all: true, filters })).toEqual([]);
  });
});
