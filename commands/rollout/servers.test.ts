import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import {
  answers,
  type Behaviour,
  breaksOff,
  drips,
  FakeServer,
  halfJson,
  hangs,
  resets,
} from '../../lib/policy/openai/fake_server.testing.ts';
import { IDS, vllmCompletion } from '../../lib/policy/openai/shapes.testing.ts';
import type { AnyRecord, Trajectory } from '../../lib/stream/records.ts';
import { spec } from './spec.ts';

/** What rollouts become of where their servers are in trouble: the table of docs/inference-servers.md. */
const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
const CHAT = '/v1/chat/completions';
const finished = answers(vllmCompletion({ choice: { message: { role: 'assistant', content: 'Action: finished()' } } }));

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-servers-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

const running: FakeServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function fake(script: Behaviour | Behaviour[]): Promise<FakeServer> {
  const server = await FakeServer.start({ [CHAT]: script });
  running.push(server);
  return server;
}

interface Changes {
  rollouts?: number;
  steps?: number;
  timeout?: number;
  more?: string[];
}

async function rollout(servers: readonly Pick<FakeServer, 'url'>[], changes: Changes = {}) {
  const { rollouts = 2, steps = 3, timeout = 60, more = [] } = changes;
  const io = testIo({ cwd: dir });
  const policy = `openai:${servers.map(({ url }) => `${url}/v1`).join(',')}`;
  const fixed = [
    '--tasks',
    SUITE,
    '--task',
    'chrome-bookmark-tea',
    '--env',
    'embedded:2',
    '--blobs',
    'blobs',
    '--quiet',
  ];
  const amounts = ['-n', `${rollouts}`, '--max-steps', `${steps}`, '--request-timeout', `${timeout}`];
  const limits = [...amounts, '--request-tries', '2', '--coordinates', 'absolute'];
  const code = await runCommand(spec, [...fixed, ...limits, '--policy', policy, ...more], io);
  const trajectories = io.records().filter(({ type }) => type === 'trajectory') as unknown as Trajectory[];
  return { code, err: io.err(), trajectories, summary: io.records().at(-1) ?? { type: 'nothing' } };
}

describe('a server in trouble for good', () => {
  it.each<[string, Behaviour, string, number?]>([
    ['hangs', hangs, 'no whole answer within 3 s', 3],
    ['drips', drips, 'no whole answer within 3 s', 3],
    ['resets', resets, 'the connection broke'],
    ['breaks off', breaksOff, 'the connection broke'],
    ['answers 500', answers({ error: { message: 'CUDA error' } }, 500), 'status 500: CUDA error'],
    ['is busy for ever', answers('', 429, { 'retry-after': '0' }), 'status 429'],
    ['sends half a JSON', halfJson, 'no whole JSON'],
    ['aborts', answers(vllmCompletion({ choice: { finish_reason: 'abort' } })), 'it ended with abort'],
  ])(
    'that %s: both rollouts end as policy_error, without a reward, and nothing was played',
    async (_, script, message, waited = 60) => {
      const { code, trajectories, summary } = await rollout([await fake(script)], { timeout: waited });
      expect(code).toBe(2);
      expect(trajectories.map(({ outcome, reward, steps }) => [outcome, reward, steps.length])).toEqual([
        ['policy_error', null, 0],
        ['policy_error', null, 0],
      ]);
      expect(trajectories[0]!.error).toContain(message);
      expect(summary).toMatchObject({ type: 'summary', trajectories: 2, scored: 0, success: null });
    },
  );

  it('with --fail-fast ends the run at the first, and says why', async () => {
    const changes = { rollouts: 50, more: ['--fail-fast'] };
    const { code, err, trajectories, summary } = await rollout([await fake(answers('', 500))], changes);
    expect(code).toBe(2);
    expect(err).toMatch(/dart-rollout: chrome-bookmark-tea: a rollout ended in policy_error: .*status 500/);
    expect(trajectories.length).toBeGreaterThan(0);
    expect(trajectories.length).toBeLessThanOrEqual(2);
    expect(summary).toMatchObject({
      type: 'summary',
      trajectories: trajectories.length,
      error: expect.stringContaining('status 500'),
    });
  });

  it('with --fail-fast and no trouble nothing is different', async () => {
    const { code, summary } = await rollout([await fake(finished)], { more: ['--fail-fast'] });
    expect([code, summary.scored]).toEqual([0, 2]);
  });
});

describe('a server in trouble for a moment', () => {
  it.each([
    ['answers 500', answers('', 500)],
    ['resets', resets],
    ['breaks off', breaksOff],
    ['sends half a JSON', halfJson],
    ['is busy', answers('', 429, { 'retry-after': '0' })],
    ['aborts', answers(vllmCompletion({ choice: { finish_reason: 'abort' } }))],
  ])('that %s: it is asked again, and no rollout hears of it', async (_, script) => {
    const { code, err, summary } = await rollout([await fake([script, finished])]);
    expect([code, err, summary.scored]).toEqual([0, '', 2]);
  });

  it('that hangs once: another one is asked', async () => {
    const { code, summary } = await rollout([await fake([hangs, finished]), await fake(finished)], { timeout: 3 });
    expect([code, summary.scored]).toEqual([0, 2]);
  });
});

describe('replies that cannot be learned from as they are', () => {
  const steps = async (completion: object) => {
    const { trajectories, summary, code } = await rollout([await fake(answers(completion))], { steps: 1 });
    expect([code, summary.scored]).toEqual([0, 2]);
    return { step: trajectories[0]!.steps[0]!, summary };
  };

  it('null log-probabilities: the tokens are unscored and counted', async () => {
    const content = IDS.map((id, i) => ({ token: `token_id:${id}`, logprob: i === 0 ? null : -1, top_logprobs: [] }));
    const { step, summary } = await steps(vllmCompletion({ choice: { logprobs: { content } } }));
    expect(step.response.logprobs).toEqual([null, -1, -1, -1]);
    expect(summary.unscored_tokens).toBe(2);
  });

  it('wrong counts: the action is played, all tokens are unscored and counted', async () => {
    const { step, summary } = await steps(vllmCompletion({ usage: { completion_tokens: 9 } }));
    expect([step.actions, step.response.logprobs]).toEqual([[{ type: 'wait' }], [null, null, null, null]]);
    expect(summary.unscored_tokens).toBe(8);
  });

  it('cut off at the limit: recorded with its tokens, and not played, though its beginning could be', async () => {
    const cut = { finish_reason: 'length', message: { role: 'assistant', content: 'Action: finished()' } };
    const { step } = await steps(vllmCompletion({ choice: cut }));
    expect(step).toMatchObject({ actions: [], parse_error: 'the reply was cut off at its token limit' });
    expect(step.response).toMatchObject({ text: 'Action: finished()', token_ids: IDS, finish_reason: 'length' });
  });
});

describe('one dead server of three', () => {
  it('from the beginning: the run finishes, and says which', async () => {
    const dead = { url: 'http://127.0.0.1:3' };
    const { code, err, summary } = await rollout([await fake(finished), dead, await fake(finished)], { rollouts: 12 });
    expect([code, summary.scored, summary.trajectories]).toEqual([0, 12, 12]);
    expect(err).toContain('policy worker openai:ui-tars-1 is down, and gets no requests until it is back');
    expect(err).toContain('127.0.0.1:3');
  });

  it('in the middle: what it had under way is asked of another', async () => {
    const servers = [await fake(finished), await fake(finished), await fake(finished)];
    const [, dying] = servers as [FakeServer, FakeServer, FakeServer];
    dying.on(CHAT, [
      finished,
      (response) => {
        response.socket?.resetAndDestroy();
        void dying.close();
      },
    ]);
    const { code, summary } = await rollout(servers, { rollouts: 30 });
    expect([code, summary.scored, summary.trajectories]).toEqual([0, 30, 30]);
  });

  it('and none at all: the run does not begin, or ends when its patience does', async () => {
    const dead = { url: 'http://127.0.0.1:3' };
    const never = await rollout([dead]);
    expect([never.code, never.err]).toEqual([2, expect.stringContaining('nobody answers there (ECONNREFUSED)')]);
    const dying = await fake((response) => {
      response.socket?.resetAndDestroy();
      void dying.close();
    });
    const ended = await rollout([dying], { rollouts: 30, more: ['--patience', '0.3'] });
    expect([ended.code, ended.err]).toEqual([2, expect.stringContaining('no policy worker is left')]);
    expect(ended.err).toContain('with --store URL and the same --run-id');
  });

  it('after some rollouts: what has ended is in the file, with a summary that says why there is no more', async () => {
    let asked = 0;
    const dying: FakeServer = await fake((response, request) => {
      asked += 1;
      if (asked <= 4) return finished(response, request);
      response.socket?.resetAndDestroy();
      void dying.close();
    });
    const more = ['--patience', '0.3', '-o', 'lost.ndjson'];
    const { code } = await rollout([dying], { rollouts: 30, more });
    expect(code).toBe(2);
    const lines = readFileSync(join(dir, 'lost.ndjson'), 'utf8').trim().split('\n');
    const records = lines.map((line) => JSON.parse(line) as AnyRecord);
    expect(records.filter(({ type }) => type === 'trajectory')).toHaveLength(4);
    expect(records.at(-1)).toMatchObject({
      ...{ type: 'summary', trajectories: 4, outcomes: { failure: 4 } },
      error: expect.stringContaining('no policy worker is left'),
    });
  });
});
