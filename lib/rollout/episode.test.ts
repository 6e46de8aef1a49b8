import { describe, expect, it } from 'vitest';
import type { Environment } from '../environment/environment.ts';
import { NO_WAITS } from '../environment/environment.ts';
import { FakeGuest, type FakeHooks } from '../environment/fake.testing.ts';
import type { Action } from '../guest/guest.ts';
import type { PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { someTask } from '../policy/request.testing.ts';
import { parseRecord } from '../stream/parse.ts';
import { episodeOptions } from './episode.testing.ts';
import { type EpisodeOptions, runEpisode } from './episode.ts';
import { trajectoryRecord } from './trajectory_record.ts';
import { NoPolicyLeft } from './worker_pool.ts';

const never = new AbortController().signal;
const item = {
  group: { group_id: 's/os/one/0', task: someTask(), size: 8, members: [2], seed: 77, maxSteps: 3 },
  rolloutIndex: 2,
};

function desktop(hooks: FakeHooks = {}): { env: Environment; guest: FakeGuest } {
  const guest = new FakeGuest('fake-0', hooks);
  const env = {
    id: 'fake-0',
    driver: 'embedded',
    guest,
    waits: NO_WAITS,
    reset: (seed: number) => guest.reset(seed),
    close: () => guest.close(),
  };
  return { env, guest };
}

/** A policy that says these texts in turn, the last one for ever; what it was asked is kept. */
function saying(...texts: string[]) {
  const asked: PolicyRequest[] = [];
  const act = async (request: PolicyRequest): Promise<PolicyReply> => {
    asked.push(request);
    const text = texts[Math.min(asked.length, texts.length) - 1]!;
    return {
      text,
      tokenIds: [1, 2],
      logprobs: [-0.5, -9999],
      entropies: [0.1, 0.2],
      finishReason: 'stop',
      modelVersion: 4 + asked.length,
    };
  };
  return { asked, policy: { coordinates: 'absolute' as const, act } };
}

const options = (policy: EpisodeOptions['policy'], changes: Partial<EpisodeOptions> = {}): EpisodeOptions => ({
  ...episodeOptions(changes),
  policy,
});

describe('runEpisode', () => {
  it('resets, sets up, acts until the policy ends it, evaluates', async () => {
    const { env, guest } = desktop();
    const { policy, asked } = saying("Thought: hm.\nAction: click(start_box='(3,4)')\n\nwait()", 'Action: finished()');
    const seen: (Action | null)[] = [];
    const end = await runEpisode(
      item,
      env,
      options(policy, {
        setup: async (_, on) => void (await on.writeFile('/set-up', new Uint8Array())),
        evaluate: async (_, on, { lastAction }) => {
          seen.push(lastAction);
          return (await on.readFile('/set-up')) ? 1 : 0;
        },
      }),
      never,
    );
    expect(guest.log).toEqual(['reset 77', 'click', 'wait']);
    expect(seen).toEqual([{ type: 'finished' }]);
    expect(end).toMatchObject({ outcome: 'success', reward: 1 });
    expect(end.steps.map((step) => step.actions)).toEqual([
      [{ type: 'click', x: 3, y: 4 }, { type: 'wait' }],
      [{ type: 'finished' }],
    ]);
    expect(end.steps[0]!.response).toMatchObject({ token_ids: [1, 2], logprobs: [-0.5, null], entropies: [0.1, 0.2] });
    expect(asked.map(({ stepIndex, history, frames }) => [stepIndex, history.length, frames.length])).toEqual([
      [0, 0, 1],
      [1, 1, 2],
    ]);
    expect(new Set(asked.map((request) => request.seed)).size).toBe(2);
    expect(asked[0]!.episode).toBe(asked[1]!.episode);
  });

  it('makes a record that the schema takes; a trajectory may span versions', async () => {
    const { policy } = saying('Action: wait()');
    const end = await runEpisode(item, desktop().env, options(policy, { evaluate: async () => 0.25 }), never);
    const at = new Date('2026-01-01T00:00:00Z');
    const record = trajectoryRecord({
      item,
      end,
      runId: 'run',
      envId: 'fake-0',
      policy: { name: 'onnx', coordinates: 'absolute' },
      sampling: { temperature: 1 },
      started: at,
      finished: at,
    });
    expect(parseRecord('trajectory', record, 'test')).toEqual(record);
    expect(record).toMatchObject({
      trajectory_id: 's/os/one/0/2',
      group_size: 8,
      rollout_index: 2,
      env_seed: 77,
      policy: { versions: [5, 6, 7] },
      reward: 0.25,
      outcome: 'truncated',
    });
  });

  it('at the step limit hands on the last action as it was, unless told to count it as FAIL', async () => {
    const last = async (failAtLimit: boolean) => {
      let lastAction: Action | null = null;
      const evaluate: EpisodeOptions['evaluate'] = async (_, __, given) => {
        lastAction = given.lastAction;
        return 0;
      };
      const end = await runEpisode(
        item,
        desktop().env,
        options(saying('Action: wait()').policy, { failAtLimit, evaluate }),
        never,
      );
      expect([end.outcome, end.steps.length]).toEqual(['truncated', 3]);
      return lastAction as Action | null;
    };
    expect(await last(false)).toEqual({ type: 'wait' });
    expect(await last(true)).toMatchObject({ type: 'fail' });
  });

  it('plays nothing of a reply that it cannot read; the policy sees the screen again', async () => {
    const { env, guest } = desktop();
    const { policy } = saying("Action: click(start_box='(1,1)')\n\njump()", 'Action: finished()');
    const end = await runEpisode(item, env, options(policy), never);
    expect(guest.log).toEqual(['reset 77']);
    expect(end.steps.map((step) => step.parse_error)).toEqual(['unknown action "jump"', undefined]);
    expect(end.outcome).toBe('success');
  });

  it('or ends with FAIL there, when told to', async () => {
    let lastAction: Action | null = null;
    const end = await runEpisode(
      item,
      desktop().env,
      options(saying('Action: jump()').policy, {
        onParseError: 'fail',
        evaluate: async (_, __, given) => {
          lastAction = given.lastAction;
          return 0;
        },
      }),
      never,
    );
    expect(lastAction).toMatchObject({ type: 'fail' });
    expect([end.outcome, end.steps.length]).toEqual(['failure', 1]);
  });

  it('calls a desktop that throws an env_error without a reward, wherever it happens', async () => {
    const broken = (hooks: FakeHooks, more: Partial<EpisodeOptions> = {}) =>
      runEpisode(item, desktop(hooks).env, options(saying('Action: wait()').policy, more), never);
    const boom = () => {
      throw new Error('boom');
    };
    for (const hooks of [{ reset: boom }, { screenshot: boom }, { act: boom }]) {
      expect(await broken(hooks)).toMatchObject({
        outcome: 'env_error',
        reward: null,
        error: 'boom',
        desktop: { duringSetup: false },
      });
    }
    expect(await broken({}, { setup: async () => boom() })).toMatchObject({
      outcome: 'env_error',
      reward: null,
      desktop: { duringSetup: true },
    });
  });

  it('puts a set-up that failed down to the desktop where it does not answer afterwards', async () => {
    const setup = async () => {
      throw new Error('the desktop went away');
    };
    const screenshot = () => {
      throw new Error('dead');
    };
    const endOn = (hooks: FakeHooks) => {
      const env = { ...desktop(hooks).env, serverUrl: 'http://desktop:5000' };
      return runEpisode(item, env, options(saying('Action: wait()').policy, { setup }), never);
    };
    const error = 'the desktop went away';
    expect(await endOn({})).toMatchObject({ outcome: 'env_error', error, desktop: { duringSetup: true } });
    expect(await endOn({ screenshot })).toMatchObject({ outcome: 'env_error', error, desktop: { duringSetup: false } });
  });

  it('calls a policy that throws a policy_error, and does not evaluate', async () => {
    let evaluated = 0;
    const act = async ({ stepIndex }: PolicyRequest): Promise<PolicyReply> => {
      if (stepIndex === 1) throw new Error('out of memory');
      return saying('Action: wait()').policy.act({} as PolicyRequest);
    };
    const end = await runEpisode(
      item,
      desktop().env,
      options({ coordinates: 'absolute', act }, { evaluate: async () => ++evaluated }),
      never,
    );
    expect(end).toMatchObject({ outcome: 'policy_error', reward: null, error: 'out of memory' });
    expect([end.steps.length, evaluated]).toEqual([1, 0]);
    const none = async () => {
      throw new NoPolicyLeft('nobody');
    };
    await expect(
      runEpisode(item, desktop().env, options({ coordinates: 'absolute', act: none }), never),
    ).rejects.toThrow('nobody');
  });

  it('calls an evaluator that throws an evaluator_error', async () => {
    const evaluate = async () => {
      throw new Error('no such getter');
    };
    const end = await runEpisode(
      item,
      desktop().env,
      options(saying('Action: finished()').policy, { evaluate }),
      never,
    );
    expect(end).toMatchObject({ outcome: 'evaluator_error', reward: null, error: 'no such getter' });
    expect(end.desktop).toBeUndefined();
  });

  it('leaves no record of an episode that was abandoned', async () => {
    const controller = new AbortController();
    const act = async () => {
      controller.abort(new Error('enough'));
      throw new Error('the connection was cut');
    };
    await expect(
      runEpisode(item, desktop().env, options({ coordinates: 'absolute', act }), controller.signal),
    ).rejects.toThrow('enough');
  });

  it('shows the policy at most five screens and 35 replies', async () => {
    const { policy, asked } = saying('Action: wait()');
    const long = { ...item, group: { ...item.group, maxSteps: 40 } };
    await runEpisode(long, desktop().env, options(policy), never);
    expect([asked[39]!.frames.length, asked[39]!.history.length]).toEqual([5, 35]);
  });
});
