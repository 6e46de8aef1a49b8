import { afterEach, describe, expect, it } from 'vitest';
import { ServerFailure } from '../policy/openai/failure.ts';
import type { PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { someRequest } from '../policy/request.testing.ts';
import { UncertainVersion } from './sync_error.ts';
import type { LoadablePolicy, WatchedPolicy } from './worker.ts';
import { WorkerPool, type WorkerPoolOptions } from './worker_pool.ts';

/** A server that a test takes down and brings up. */
class ShakyPolicy implements LoadablePolicy, WatchedPolicy {
  readonly coordinates = 'absolute';
  readonly name: string;
  down: unknown = null;
  version = 1;
  up = true;
  asked = 0;
  others = 0;
  trouble: (() => Error) | null = null;
  loadTrouble: Error | null = null;
  readonly loaded: number[] = [];
  onDown: (reason: unknown) => void = () => {};

  constructor(name: string) {
    this.name = name;
  }

  async act({ signal }: PolicyRequest): Promise<PolicyReply> {
    this.asked += 1;
    await new Promise(setImmediate);
    signal?.throwIfAborted();
    if (!this.up) throw new ServerFailure('unreachable', `${this.name} is gone`);
    if (this.trouble) throw this.trouble();
    return { text: this.name, tokenIds: [], logprobs: [], finishReason: 'stop', modelVersion: this.version };
  }

  async check(): Promise<void> {
    if (!this.up) throw new Error(`${this.name} does not answer`);
  }

  async cameBack(): Promise<void> {
    this.version = 1;
  }

  async queued(): Promise<number> {
    return this.others;
  }

  async load(version: number): Promise<void> {
    const trouble = this.loadTrouble;
    this.loadTrouble = null;
    if (trouble) throw trouble;
    this.loaded.push(version);
    this.version = version;
  }

  async close(): Promise<void> {}
}

const open: WorkerPool[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()));
});

function setUp(count: number, options: WorkerPoolOptions = {}) {
  const policies = Array.from({ length: count }, (_, i) => new ShakyPolicy('abc'[i]!));
  const news: string[] = [];
  const pool = new WorkerPool(policies, {
    ...{ healthIntervalMs: 5, patienceMs: 60_000, circuit: { failures: 3, coolDownMs: 10, longestCoolDownMs: 20 } },
    onFailure: (worker, _error, out) => {
      if (out) news.push(`${worker} out`);
    },
    onBack: (worker) => news.push(`${worker} back`),
    ...options,
  });
  open.push(pool);
  const states = () => pool.workers.map(({ state }) => state);
  return { policies, pool, news, states };
}

/** Waits until something holds; a test that waits for ever fails by its time limit. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

describe('a pool of servers', () => {
  it('sends a request elsewhere where nobody answers, and the rollout hears nothing of it', async () => {
    const { policies, pool, news } = setUp(3);
    policies[0]!.up = false;
    const replies = await Promise.all(Array.from({ length: 30 }, () => pool.act(someRequest())));
    expect(new Set(replies.map(({ text }) => text))).toEqual(new Set(['b', 'c']));
    expect(news).toEqual(['a-0 out']);
  });

  it('brings a server that is back to the version of the others before it serves', async () => {
    const { policies, pool, news, states } = setUp(2);
    policies[0]!.up = false;
    await until(() => states()[0] === 'out');
    await pool.syncOneByOne(7, 'v/7');
    expect(policies.map(({ loaded }) => loaded)).toEqual([[], [7]]);
    policies[0]!.up = true;
    await until(() => states()[0] === 'serving');
    expect(policies[0]!.loaded).toEqual([7]);
    const replies = await Promise.all([1, 2, 3, 4].map(() => pool.act(someRequest())));
    expect(new Set(replies.map(({ modelVersion }) => modelVersion))).toEqual(new Set([7]));
    await until(() => news.length === 2);
    expect(news).toEqual(['a-0 out', 'a-0 back']);
  });

  it('lets requests wait while the only server is away, and none fails', async () => {
    const { policies, pool } = setUp(1);
    policies[0]!.up = false;
    const replies = Promise.all([1, 2, 3].map(() => pool.act(someRequest())));
    await until(() => pool.waiting === 3);
    policies[0]!.up = true;
    expect((await replies).map(({ text }) => text)).toEqual(['a', 'a', 'a']);
  });

  it('says what is missing where none comes back', async () => {
    const { policies, pool } = setUp(2, { patienceMs: 40 });
    for (const policy of policies) policy.up = false;
    await expect(pool.act(someRequest())).rejects.toMatchObject({
      message: expect.stringMatching(/^no policy worker is left; the last one failed: /),
      hint: 'start the servers again',
    });
  });

  it('sends one request at a time to a server that fails, until one goes well', async () => {
    const { policies, pool, states, news } = setUp(1, { healthIntervalMs: 2 });
    const [shaky] = policies as [ShakyPolicy];
    shaky.trouble = () => new ServerFailure('broken', 'status 500');
    for (let i = 0; i < 3; i++) await expect(pool.act(someRequest())).rejects.toThrow('status 500');
    expect(states()).toEqual(['out']);
    await until(() => states()[0] === 'serving');
    const before = shaky.asked;
    const waiting = [1, 2, 3].map(() => pool.act(someRequest()));
    await expect(waiting[0]).rejects.toThrow('status 500');
    expect(shaky.asked).toBe(before + 1);
    shaky.trouble = null;
    expect((await Promise.all(waiting.slice(1))).map(({ text }) => text)).toEqual(['a', 'a']);
    // Down once, however often a trial failed.
    expect(news).toEqual(['a-0 out', 'a-0 back']);
    shaky.up = false;
    const lost = pool.act(someRequest());
    await until(() => news.length === 3);
    shaky.up = true;
    await lost;
    expect(news.slice(2)).toEqual(['a-0 out', 'a-0 back']);
  });

  it('holds a request that is itself at fault against no server', async () => {
    const { policies, pool, states } = setUp(2);
    for (const policy of policies) {
      policy.trouble = () => new ServerFailure('refused', 'the prompt is too long', { status: 400 });
    }
    for (let i = 0; i < 10; i++) await expect(pool.act(someRequest())).rejects.toThrow('too long');
    expect(states()).toEqual(['serving', 'serving']);
    // A model that is not there is the server's.
    for (const policy of policies)
      policy.trouble = () => new ServerFailure('refused', 'no such model', { status: 404 });
    for (let i = 0; i < 3; i++) await expect(pool.act(someRequest())).rejects.toThrow('no such model');
    expect(states()).toEqual(['out', 'out']);
  });

  it('finds out by itself that a server does not answer, or that its process has ended', async () => {
    const { policies, states, news } = setUp(3);
    policies[0]!.up = false;
    policies[1]!.up = false;
    policies[1]!.onDown(new Error('ended with exit code 1'));
    expect(states()[1]).toBe('out');
    await until(() => states()[0] === 'out');
    expect(news.sort()).toEqual(['a-0 out', 'b-1 out']);
  });

  it('begins with a server that is down as with one that went down', async () => {
    const shaky = [new ShakyPolicy('a'), new ShakyPolicy('b')] as const;
    shaky[0].down = new Error('nobody answers there');
    shaky[0].up = false;
    const pool = new WorkerPool(shaky, { healthIntervalMs: 5, circuit: { coolDownMs: 5 } });
    open.push(pool);
    expect(pool.workers.map(({ state }) => state)).toEqual(['out', 'serving']);
    expect((await pool.act(someRequest())).text).toBe('b');
    shaky[0].up = true;
    await until(() => pool.workers[0]!.state === 'serving');
  });

  it('asks the server that others ask less of', async () => {
    const { policies, pool } = setUp(2);
    policies[0]!.others = 3;
    await until(() => pool.workers[0]!.foreign === 3);
    await Promise.all([1, 2, 3, 4].map(() => pool.act(someRequest())));
    expect(policies.map(({ asked }) => asked)).toEqual([1, 3]);
  });

  it('does not let a server answer whose version nobody knows, until it has been given one', async () => {
    const { policies, pool, states } = setUp(2);
    policies[0]!.loadTrouble = new UncertainVersion('it hung');
    await pool.syncOneByOne(7, 'v/7');
    expect(states()).toEqual(['out', 'serving']);
    await until(() => states()[0] === 'serving');
    expect(policies[0]!.loaded).toEqual([7]);
    expect(pool.oldestVersion).toBe(7);
  });
});
