import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answers, type Behaviour, FakeServer } from '../policy/openai/fake_server.testing.ts';
import { modelsOf, vllmCompletion } from '../policy/openai/shapes.testing.ts';
import type { PolicyReply, PolicyRequest } from '../policy/policy.ts';
import { someRequest } from '../policy/request.testing.ts';
import { openServerWorkers } from './open_servers.ts';
import type { LoadablePolicy } from './worker.ts';
import { WorkerPool } from './worker_pool.ts';

/** What a token of this version has as its log-probability: exact in binary. */
const markOf = (version: number) => -version / 1024;
const ticks = async (count: number) => {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
};

/** Its log-probabilities say which weights were there when each token was drawn: one at the start, one at the end. */
class MarkedPolicy implements LoadablePolicy {
  readonly name = 'marked';
  readonly coordinates = 'absolute';
  version = 0;
  loading = false;
  readonly #loadTicks: number;

  constructor(loadTicks: number) {
    this.#loadTicks = loadTicks;
  }

  async act({ seed }: PolicyRequest): Promise<PolicyReply> {
    if (this.loading) throw new Error('asked while its weights were changing');
    const { version } = this;
    const first = markOf(this.version);
    await ticks(seed);
    const logprobs = [first, markOf(this.version)];
    return { text: '', tokenIds: [1, 2], logprobs, finishReason: 'stop', modelVersion: version };
  }

  async load(version: number): Promise<void> {
    this.loading = true;
    await ticks(this.#loadTicks);
    this.version = version;
    this.loading = false;
  }

  async close(): Promise<void> {}
}

const schedule = fc.record({
  loadTicks: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 4, maxLength: 4 }),
  /** Of each request: how long it takes, and how long until its lane asks again. */
  lanes: fc.array(fc.array(fc.tuple(fc.nat(9), fc.nat(3)), { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 16,
  }),
  /** How long until the next version is published. */
  publish: fc.array(fc.nat(15), { minLength: 1, maxLength: 4 }),
});

describe('a change of version, one worker at a time', () => {
  it('fails no request, leaves three of four serving, and every token knows its version', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async ({ loadTicks, lanes, publish }) => {
        const policies = loadTicks.map((count) => new MarkedPolicy(count));
        let least = 4;
        const pool: WorkerPool = new WorkerPool(policies, {
          onState: () => {
            least = Math.min(least, pool.workers.filter(({ state }) => state === 'serving').length);
          },
        });
        const asking = lanes.map(async (lane) => {
          for (const [duration, pause] of lane) {
            const { logprobs, modelVersion } = await pool.act(someRequest({ seed: duration }));
            expect(logprobs).toEqual([markOf(modelVersion), markOf(modelVersion)]);
            await ticks(pause);
          }
        });
        const syncs: Promise<void>[] = [];
        for (const [index, wait] of publish.entries()) {
          await ticks(wait);
          syncs.push(pool.syncOneByOne(index + 1, `v/${index + 1}`));
        }
        await Promise.all([...asking, ...syncs]);
        expect(least).toBe(3);
        expect(pool.workers.map(({ version }) => version)).toEqual(Array(4).fill(publish.length));
        await pool.close();
      }),
      { numRuns: 150 },
    );
  });
});

/** A server whose log-probabilities mark the weights at the start and at the end of a reply. */
interface Engine {
  violations: string[];
  scripts: Record<string, Behaviour>;
}

function sglang(): Engine {
  const violations: string[] = [];
  let [version, inFlight] = [0, 0];
  const complete: Behaviour = (response, asked) => {
    inFlight += 1;
    const first = version;
    setTimeout(
      () => {
        inFlight -= 1;
        answers(marked([first, version]))(response, asked);
      },
      1 + (asked.body.seed % 5),
    );
  };
  const update: Behaviour = (response, asked) => {
    if (inFlight > 0) violations.push(`${inFlight} requests under way at the update`);
    setTimeout(() => {
      version = Number(asked.body.weight_version);
      answers({ success: true, message: 'ok' })(response, asked);
    }, 4);
  };
  const models = answers(modelsOf('sglang'));
  return {
    violations,
    scripts: { '/v1/models': models, '/v1/chat/completions': complete, '/update_weights_from_disk': update },
  };
}

/** With adapters: each request names the weights that it wants, and the wrong ones are not there. */
function vllm(): Engine {
  const violations: string[] = [];
  const adapters = new Set<string>();
  const complete: Behaviour = (response, asked) => {
    const { model, seed } = asked.body;
    if (model !== 'ui-tars' && !adapters.has(model)) violations.push(`${model} is asked for and not there`);
    const version = Number(/^dart-v(\d+)-/.exec(model)?.[1] ?? 0);
    setTimeout(() => answers(marked([version, version]))(response, asked), 1 + (seed % 5));
  };
  const change =
    (add: boolean): Behaviour =>
    (response, asked) => {
      if (add) adapters.add(asked.body.lora_name);
      else adapters.delete(asked.body.lora_name);
      setTimeout(() => answers('Success')(response, asked), 4);
    };
  return {
    violations,
    scripts: {
      '/v1/chat/completions': complete,
      '/v1/load_lora_adapter': change(true),
      '/v1/unload_lora_adapter': change(false),
    },
  };
}

function marked(versions: number[]): object {
  const content = versions.map((version, i) => ({
    token: `token_id:${i}`,
    logprob: markOf(version),
    top_logprobs: [],
  }));
  return vllmCompletion({ choice: { token_ids: [0, 1], logprobs: { content } }, usage: { completion_tokens: 2 } });
}

describe('a change of version over HTTP', () => {
  let weights = '';
  let adapter = '';
  const running: FakeServer[] = [];
  beforeAll(() => {
    weights = mkdtempSync(join(tmpdir(), 'dart-weights-'));
    adapter = mkdtempSync(join(tmpdir(), 'dart-adapter-'));
    writeFileSync(join(adapter, 'adapter_config.json'), '{}');
  });
  afterAll(() => {
    for (const folder of [weights, adapter]) rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()));
  });

  it.each([
    ['SGLang, whole weights', sglang, () => weights],
    ['vLLM, LoRA adapters', vllm, () => adapter],
  ])('%s: fails no request, and every token knows its version', async (_, engineOf, folder) => {
    const engines = [1, 2, 3, 4].map(engineOf);
    for (const { scripts } of engines) running.push(await FakeServer.start(scripts));
    const spec = `openai:${running.map(({ url }) => url).join(',')}`;
    let least = 4;
    const pool: WorkerPool = new WorkerPool(await openServerWorkers(spec, {}), {
      onState: () => {
        least = Math.min(least, pool.workers.filter(({ state }) => state === 'serving').length);
      },
    });
    const frame = { width: 1, height: 1, rgb: () => new Uint8Array(3), png: () => new Uint8Array(1) };
    const seen = new Set<number>();
    let over = false;
    const lanes = Array.from({ length: 12 }, async (_unused, lane) => {
      for (let i = 0; !over; i++) {
        const reply = await pool.act(someRequest({ frames: [frame], seed: lane + i }));
        expect(reply.logprobs.map((logprob) => logprob! + 0)).toEqual(Array(2).fill(markOf(reply.modelVersion) + 0));
        seen.add(reply.modelVersion);
      }
    });
    for (const version of [1, 2, 3]) await pool.syncOneByOne(version, folder());
    over = true;
    await Promise.all(lanes);
    await pool.close();
    expect(engines.flatMap(({ violations }) => violations)).toEqual([]);
    expect(least).toBe(3);
    expect([...seen].sort()).toEqual([0, 1, 2, 3]);
    expect(pool.workers.map(({ version }) => version)).toEqual([3, 3, 3, 3]);
  });
});
