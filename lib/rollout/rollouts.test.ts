import { describe, expect, it } from 'vitest';
import { EmbeddedDriver } from '../environment/embedded.ts';
import { type Driver, NO_WAITS } from '../environment/environment.ts';
import { FakeGuest } from '../environment/fake.testing.ts';
import { EnvironmentPool } from '../environment/pool.ts';
import type { Policy, PolicyRequest } from '../policy/policy.ts';
import { someTask } from '../policy/request.testing.ts';
import type { Trajectory } from '../stream/records.ts';
import { episodeOptions } from './episode.testing.ts';
import type { Group } from './planner.ts';
import { type RolloutOptions, runRollouts } from './rollouts.ts';
import { RolloutScheduler } from './scheduler.ts';
import { WorkerPool } from './worker_pool.ts';

const never = new AbortController().signal;

function policyThat(act: (request: PolicyRequest) => Promise<string>): Policy {
  return {
    name: 'fake',
    coordinates: 'absolute',
    version: 0,
    act: async (request) => ({
      text: await act(request),
      tokenIds: [],
      logprobs: [],
      finishReason: 'stop',
      modelVersion: 0,
    }),
    close: async () => {},
  };
}

const late = {
  name: 'late',
  capacity: 1,
  start: (place: number, id: string) => new EmbeddedDriver(1, (name) => new FakeGuest(name)).start(place, id),
};

interface Setting {
  drivers?: Driver[];
  environments?: EnvironmentPool;
  groups: [name: string, size: number][];
  desktops?: number;
  create?: (id: string) => FakeGuest;
  policy?: Policy;
  more?: Partial<RolloutOptions>;
}

async function run(setting: Setting) {
  const { groups, desktops = 2, create = (id) => new FakeGuest(id), policy, more } = setting;
  const waiting: Group[] = groups.map(([name, size]) => ({
    group_id: name,
    task: someTask(`os/${name}`),
    size,
    members: [...Array(size).keys()],
    seed: 1,
    maxSteps: 3,
  }));
  const drivers = setting.drivers ?? [new EmbeddedDriver(desktops, create)];
  const environments = setting.environments ?? new EnvironmentPool(drivers);
  const trajectories: Trajectory[] = [];
  const retried: string[] = [];
  const result = runRollouts({
    runId: 'run',
    scheduler: new RolloutScheduler({ next: async () => waiting.shift() ?? null }, 2),
    environments,
    workers: new WorkerPool([policy ?? policyThat(async () => 'Action: finished()')]),
    episode: episodeOptions(),
    emit: async (trajectory) => void trajectories.push(trajectory),
    onRetry: (item, error) => retried.push(`${item.group.group_id}${item.rolloutIndex}: ${(error as Error).message}`),
    stop: never,
    abort: never,
    ...more,
  });
  const error = await result.then(
    () => null,
    (thrown: unknown) => thrown as Error,
  );
  await environments.close();
  const names = trajectories.map(({ group_id, rollout_index }) => `${group_id}${rollout_index}`);
  return { trajectories, names, retried, environments, error };
}

describe('runRollouts', () => {
  it('does every item once, interleaved', async () => {
    const { names, error } = await run({
      groups: [
        ['a', 2],
        ['b', 2],
      ],
      desktops: 1,
    });
    expect(error).toBeNull();
    expect(names).toEqual(['a0', 'b0', 'a1', 'b1']);
  });

  it('never waits for a slow rollout: the others go on', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const policy = policyThat(async ({ task, episode }) => {
      if (task.id === 'a' && episode!.includes('/0/')) await held;
      return 'Action: finished()';
    });
    const emit: string[] = [];
    await run({
      groups: [
        ['a', 2],
        ['b', 3],
      ],
      policy,
      more: {
        emit: async ({ group_id, rollout_index }) => {
          emit.push(`${group_id}${rollout_index}`);
          if (emit.length === 4) release();
        },
      },
    });
    expect(emit).toEqual(['b0', 'a1', 'b1', 'b2', 'a0']);
  });

  it('never takes what a dead desktop shows for work that was not done', async () => {
    const dead = new Set<string>();
    const machines: Driver = {
      name: 'machine',
      capacity: 1,
      start: async (_, id) => {
        const guest = new FakeGuest(id, {
          screenshot: () => {
            if (dead.has(id)) throw new Error(`${id} is dead`);
          },
        });
        const reset = async () => {};
        return { id, driver: 'machine', guest, waits: NO_WAITS, serverUrl: `http://${id}`, reset, close: reset };
      },
    };
    for (const fails of [false, true]) {
      const evaluate = async (_: unknown, { id }: { id: string }) => {
        // The first one dies while it is evaluated.
        if (!id.endsWith('-0')) return 1;
        dead.add(id);
        if (fails) throw new Error('no answer');
        return 0;
      };
      const episode = { ...episodeOptions(), evaluate };
      const { trajectories, retried, environments } = await run({
        groups: [['a', 1]],
        drivers: [machines],
        more: { episode },
      });
      expect(trajectories).toMatchObject([{ env_id: 'machine-0r1', outcome: 'success', reward: 1 }]);
      expect(retried).toEqual(['a0: machine-0 is dead']);
      expect(environments.counts).toMatchObject({ booted: 2, replaced: 1, failures: { rollout: 1 } });
      dead.clear();
    }
  });

  it('lets desktops that come later take part', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const policy = policyThat(async ({ episode }) => {
      if (episode!.endsWith('/embedded-0')) await held;
      return 'Action: finished()';
    });
    const environments = new EnvironmentPool([new EmbeddedDriver(1, (id) => new FakeGuest(id))]);
    const done: string[] = [];
    const running = run({
      groups: [['a', 3]],
      policy,
      environments,
      more: {
        emit: async ({ env_id, rollout_index }) => {
          done.push(`${rollout_index} ${env_id}`);
          if (done.length === 2) release();
        },
      },
    });
    environments.add({ ...late, start: async (_, id) => ({ ...(await late.start(0, id)), id: 'late' }) });
    await running;
    expect(done).toEqual(['1 late', '2 late', '0 embedded-0']);
  });

  it('tries a rollout on another desktop when one fails', async () => {
    let broken = 1;
    const create = (id: string) =>
      new FakeGuest(id, {
        screenshot: () => {
          if (id === 'embedded-0' && broken-- > 0) throw new Error('frozen');
        },
      });
    const { trajectories, retried, environments, error } = await run({ groups: [['a', 3]], desktops: 1, create });
    expect(error).toBeNull();
    expect(retried).toEqual(['a0: frozen']);
    expect(trajectories.map(({ outcome, env_id }) => `${outcome} ${env_id}`)).toEqual([
      'success embedded-0r1',
      'success embedded-0r1',
      'success embedded-0r1',
    ]);
    expect(environments.failures).toBe(1);
  });

  it('records a rollout that three desktops failed as env_error, without a reward', async () => {
    const setup = async (task: { id: string }) => {
      if (task.id === 'a') throw new Error('no such file');
    };
    const { trajectories, error } = await run({
      groups: [
        ['a', 1],
        ['b', 1],
      ],
      desktops: 1,
      more: {
        episode: episodeOptions({ setup }),
      },
    });
    expect(error).toBeNull();
    expect(trajectories.map(({ outcome, reward, error: why }) => [outcome, reward, why])).toEqual([
      ['env_error', null, 'no such file'],
      ['success', 1, undefined],
    ]);
  });

  it('passes over tasks that no desktop can set up, however many lie side by side', async () => {
    const setup = async (task: { id: string }) => {
      if (task.id !== 'last') throw new Error(`${task.id}: command not found`);
    };
    const bad = Array.from({ length: 12 }, (_, i): [string, number] => [`bad${i}`, 1]);
    const { trajectories, error, environments } = await run({
      ...{ groups: [...bad, ['last', 1]], desktops: 2, more: { episode: episodeOptions({ setup }) } },
    });
    expect(error).toBeNull();
    const count = (wanted: string) => trajectories.filter(({ outcome }) => outcome === wanted).length;
    expect([count('env_error'), count('success')]).toEqual([12, 1]);
    expect(environments.counts).toMatchObject({ retired: 0, failures: { setup: 36, rollout: 0 } });
  });

  it('ends with a clear error when no desktop is left', async () => {
    const create = (id: string) =>
      new FakeGuest(id, {
        reset: () => {
          throw new Error('no display');
        },
      });
    const { error, trajectories } = await run({ groups: [['a', 20]], create });
    expect(error?.message).toBe('no desktop is left; the last one failed: no display');
    expect(trajectories.every(({ reward }) => reward === null)).toBe(true);
  });

  it('ends with a clear error when no policy worker is left', async () => {
    const policy = policyThat(async () => {
      throw new Error('no such model');
    });
    const { error, trajectories } = await run({ groups: [['a', 40]], policy });
    expect(error?.message).toBe('no policy worker is left; the last one failed: no such model');
    expect(new Set(trajectories.map(({ outcome }) => outcome))).toEqual(new Set(['policy_error']));
  });

  it('told to stop, finishes what is under way and begins nothing', async () => {
    const stop = new AbortController();
    const policy = policyThat(async () => {
      stop.abort();
      return 'Action: finished()';
    });
    const { names, error } = await run({ groups: [['a', 8]], policy, more: { stop: stop.signal } });
    expect(error).toBeNull();
    expect(names).toEqual(['a0', 'a1']);
  });

  it('lets signals and timers have their turn although desktop and policy answer at once', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1);
    const { names, error } = await run({ groups: [['a', 1_000_000]], more: { stop: stop.signal } });
    expect(error).toBeNull();
    expect(names.length).toBeLessThan(1_000_000);
  });

  it('told to abort, records nothing of what was under way', async () => {
    const abort = new AbortController();
    const policy = policyThat(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal!.addEventListener('abort', () => reject(signal!.reason));
          abort.abort(new Error('enough'));
        }),
    );
    const { names, error } = await run({
      groups: [['a', 8]],
      policy,
      more: { abort: abort.signal, stop: abort.signal },
    });
    expect(error).toBeNull();
    expect(names).toEqual([]);
  });

  it('ends when the records can go nowhere', async () => {
    const emit = async () => {
      throw new Error('the disk is full');
    };
    expect((await run({ groups: [['a', 8]], more: { emit } })).error?.message).toBe('the disk is full');
  });
});
