import { describe, expect, it } from 'vitest';
import type { PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { someRequest } from '../policy/request.testing.ts';
import type { LoadablePolicy } from './worker.ts';
import { WorkerPool, type WorkerSync } from './worker_pool.ts';

/** A policy whose replies come when the test says so. */
class SlowPolicy implements LoadablePolicy {
  readonly coordinates = 'absolute';
  version = 1;
  readonly name: string;
  readonly #log: string[];
  readonly #waiting: { resolve: (reply: PolicyReply) => void; reject: (error: Error) => void }[] = [];
  loadError: Error | null = null;

  constructor(name: string, log: string[]) {
    this.name = name;
    this.#log = log;
  }

  get asked(): number {
    return this.#waiting.length;
  }

  act(_: PolicyRequest): Promise<PolicyReply> {
    this.#log.push(`${this.name} asked`);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  reply(): void {
    const text = `v${this.version}`;
    this.#log.push(`${this.name} replies ${text}`);
    this.#waiting
      .shift()!
      .resolve({ text, tokenIds: [], logprobs: [], finishReason: 'stop', modelVersion: this.version });
  }

  breakDown(): void {
    this.#waiting.shift()!.reject(new Error(`${this.name} broke`));
  }

  async load(version: number, path: string): Promise<void> {
    if (this.loadError) throw this.loadError;
    this.version = version;
    this.#log.push(`${this.name} loads ${path}`);
  }

  async close(): Promise<void> {
    this.#log.push(`${this.name} closed`);
  }
}

const soon = () => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const log: string[] = [];
  const [a, b] = [new SlowPolicy('a', log), new SlowPolicy('b', log)];
  const syncs: WorkerSync[] = [];
  const pool = new WorkerPool([a, b], { maxFailures: 2, onSync: (sync) => syncs.push(sync) });
  return { log, a, b, pool, syncs };
}

describe('WorkerPool', () => {
  it('tells when a worker gets its first request and when its last one is back', async () => {
    const told: string[] = [];
    const [a, b] = [new SlowPolicy('a', []), new SlowPolicy('b', [])];
    const pool = new WorkerPool([a, b], { onBusy: (change, worker) => told.push(`${worker} ${change}`) });
    const replies = [1, 2, 3].map(() => pool.act(someRequest()));
    b.reply();
    a.reply();
    await Promise.race(replies);
    await soon();
    expect(told).toEqual(['a-0 1', 'b-1 1', 'b-1 -1']);
    a.reply();
    await Promise.all(replies);
    expect(told).toEqual(['a-0 1', 'b-1 1', 'b-1 -1', 'a-0 -1']);
  });

  it('asks the worker with the least in flight', async () => {
    const { a, b, pool } = setUp();
    const replies = [1, 2, 3].map(() => pool.act(someRequest()));
    await soon();
    expect([a.asked, b.asked]).toEqual([2, 1]);
    b.reply();
    await soon();
    replies.push(pool.act(someRequest()));
    await soon();
    expect([a.asked, b.asked]).toEqual([2, 1]);
    a.reply();
    a.reply();
    b.reply();
    expect((await Promise.all(replies)).map((reply) => reply.text)).toEqual(['v1', 'v1', 'v1', 'v1']);
  });

  it('changes versions one worker at a time: stop routing, drain, load, resume', async () => {
    const { log, a, b, pool, syncs } = setUp();
    const first = [pool.act(someRequest()), pool.act(someRequest())];
    await soon();
    const synced = pool.syncOneByOne(2, 'v/2');
    await soon();
    // a drains: it may finish what it has, and b gets everything new.
    const second = [pool.act(someRequest()), pool.act(someRequest())];
    await soon();
    expect(pool.workers.map((worker) => worker.state)).toEqual(['draining', 'serving']);
    expect([a.asked, b.asked]).toEqual([1, 3]);
    a.reply();
    await soon();
    // Now a has the new version and serves, and b drains in its turn.
    expect(pool.workers.map(({ state, version }) => `${state} ${version}`)).toEqual(['serving 2', 'draining 1']);
    second.push(pool.act(someRequest()));
    await soon();
    a.reply();
    for (let i = 0; i < 3; i++) b.reply();
    await synced;
    expect((await Promise.all([...first, ...second])).map((reply) => reply.text)).toEqual([
      'v1',
      'v1',
      'v1',
      'v1',
      'v2',
    ]);
    expect(log.filter((line) => !line.endsWith('asked'))).toEqual([
      'a replies v1',
      'a loads v/2',
      'a replies v2',
      'b replies v1',
      'b replies v1',
      'b replies v1',
      'b loads v/2',
    ]);
    expect(syncs.map(({ worker_id, from_version, to_version }) => [worker_id, from_version, to_version])).toEqual([
      ['a-0', 1, 2],
      ['b-1', 1, 2],
    ]);
  });

  it('changes all together when told: nobody serves before the last one has drained', async () => {
    const { a, b, pool, log } = setUp();
    const first = [pool.act(someRequest()), pool.act(someRequest())];
    await soon();
    const synced = pool.syncTogether(2, 'v/2');
    await soon();
    const late = pool.act(someRequest());
    a.reply();
    await soon();
    expect(pool.workers.map((worker) => worker.state)).toEqual(['draining', 'draining']);
    expect([a.asked, b.asked]).toEqual([0, 1]);
    b.reply();
    await synced;
    await soon();
    a.reply();
    expect((await late).text).toBe('v2');
    await Promise.all(first);
    expect(log.slice(2, 6)).toEqual(['a replies v1', 'b replies v1', 'a loads v/2', 'b loads v/2']);
  });

  it('keeps serving the old version where the new one cannot be loaded', async () => {
    const { a, b, pool, syncs } = setUp();
    a.loadError = new Error('half a file');
    await pool.syncOneByOne(2, 'v/2');
    expect(syncs.map((sync) => sync.error)).toEqual(['half a file', undefined]);
    expect(pool.workers.map(({ state, version }) => `${state} ${version}`)).toEqual(['serving 1', 'serving 2']);
    expect([a.version, b.version, pool.version]).toEqual([1, 2, 2]);
    a.loadError = null;
    await pool.syncOneByOne(2, 'v/2');
    expect(syncs).toHaveLength(3);
    expect(a.version).toBe(2);
  });

  it('asks another worker when one fails, and gives up after the second', async () => {
    const { a, b, pool } = setUp();
    const reply = pool.act(someRequest());
    await soon();
    a.breakDown();
    await soon();
    b.reply();
    expect((await reply).text).toBe('v1');
    const lost = pool.act(someRequest());
    await soon();
    a.breakDown();
    await soon();
    b.breakDown();
    await expect(lost).rejects.toThrow('b broke');
  });

  it('takes a worker that keeps failing out, and says so when none is left', async () => {
    const { a, b, pool } = setUp();
    for (let i = 0; i < 2; i++) {
      const lost = pool.act(someRequest());
      await soon();
      a.breakDown();
      await soon();
      b.breakDown();
      await expect(lost).rejects.toThrow('b broke');
    }
    expect(pool.workers.map((worker) => worker.state)).toEqual(['out', 'out']);
    await expect(pool.act(someRequest())).rejects.toMatchObject({
      message: 'no policy worker is left; the last one failed: b broke',
    });
  });
});
