import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { answers, type Behaviour, FakeServer, hangs, resets } from '../policy/openai/fake_server.testing.ts';
import { openServers } from '../policy/openai/open.ts';
import { modelsOf } from '../policy/openai/shapes.testing.ts';
import { someRequest } from '../policy/request.testing.ts';
import { UncertainVersion } from './sync_error.ts';
import { ServerWorker, type ServerWorkerOptions } from './worker_server.ts';

let adapter = '';
let weights = '';
beforeAll(() => {
  adapter = mkdtempSync(join(tmpdir(), 'dart-adapter-'));
  weights = mkdtempSync(join(tmpdir(), 'dart-weights-'));
  writeFileSync(join(adapter, 'adapter_config.json'), '{}');
});
afterAll(() => {
  for (const folder of [adapter, weights]) rmSync(folder, { recursive: true });
});

const running: FakeServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function worker(
  scripts: Record<string, Behaviour | Behaviour[]> = {},
  options: Partial<ServerWorkerOptions> = {},
) {
  const server = await FakeServer.start(scripts);
  running.push(server);
  const [opened] = await openServers({ api: 'chat', urls: [server.url] }, { apiKey: 'k' });
  server.asked.length = 0;
  return {
    server,
    worker: new ServerWorker(opened!.policy, { engine: opened!.engine, apiKey: 'k', loadTimeoutMs: 200, ...options }),
  };
}

/** What was posted, in order: `path body`. */
const posted = (server: FakeServer) =>
  server.asked.filter(({ method }) => method === 'POST').map(({ path, body }) => `${path} ${JSON.stringify(body)}`);
const ok = answers('Success');

describe('a vLLM', () => {
  it('takes a LoRA adapter under a name of its own, and lets go of the one before', async () => {
    const { server, worker: vllm } = await worker({ '/v1/load_lora_adapter': ok, '/v1/unload_lora_adapter': ok });
    await vllm.load!(7, adapter);
    await vllm.load!(8, adapter);
    const names = server.to('/v1/load_lora_adapter').map(({ body }) => body.lora_name);
    expect(names).toEqual([
      expect.stringMatching(/^dart-v7-[0-9a-f]{8}$/),
      expect.stringMatching(/^dart-v8-[0-9a-f]{8}$/),
    ]);
    expect(posted(server)).toEqual([
      `/v1/load_lora_adapter {"lora_name":"${names[0]}","lora_path":"${adapter}"}`,
      `/v1/load_lora_adapter {"lora_name":"${names[1]}","lora_path":"${adapter}"}`,
      `/v1/unload_lora_adapter {"lora_name":"${names[0]}"}`,
    ]);
    expect(server.asked.every(({ headers }) => headers.authorization === 'Bearer k')).toBe(true);
    expect(vllm.version).toBe(8);
    const frame = { width: 1, height: 1, rgb: () => new Uint8Array(3), png: () => new Uint8Array(1) };
    expect((await vllm.act(someRequest({ frames: [frame] }))).modelVersion).toBe(8);
    expect(server.to('/v1/chat/completions')[0]!.body.model).toBe(names[1]);
  });

  it('that has the adapter already needs nothing more', async () => {
    const message = "The lora adapter 'dart-v7-…' has already been loaded.";
    const { worker: vllm } = await worker({
      '/v1/load_lora_adapter': answers({ error: { message, type: 'InvalidUserInput' } }, 400),
    });
    await vllm.load!(7, adapter);
    expect(vllm.version).toBe(7);
  });

  it('that refuses the adapter keeps its version, and what to start it with is told', async () => {
    const { worker: vllm } = await worker();
    await expect(vllm.load!(7, adapter)).rejects.toMatchObject({
      message: 'the version was refused: status 404: Not Found',
      hint: expect.stringContaining('VLLM_ALLOW_RUNTIME_LORA_UPDATING=True'),
    });
    expect(vllm.version).toBe(0);
  });

  it('takes whole weights: pause, reload, forget the cache, resume', async () => {
    const paths = ['/pause', '/collective_rpc', '/reset_prefix_cache', '/resume'];
    const { server, worker: vllm } = await worker(Object.fromEntries(paths.map((path) => [path, ok])));
    await vllm.load!(3, weights);
    expect(posted(server)).toEqual([
      '/pause?mode=wait {}',
      `/collective_rpc {"method":"reload_weights","kwargs":{"weights_path":"${weights}"}}`,
      '/reset_prefix_cache {}',
      '/resume {}',
    ]);
    expect(vllm.version).toBe(3);
  });

  it('without /pause is only told to reload', async () => {
    const { server, worker: vllm } = await worker({ '/collective_rpc': ok, '/reset_prefix_cache': ok });
    await vllm.load!(3, weights);
    expect(server.to('/resume')).toEqual([]);
    expect(vllm.version).toBe(3);
  });

  it('that is not in development mode says what to do', async () => {
    const { worker: vllm } = await worker();
    const error = await vllm.load!(3, weights).catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(UncertainVersion);
    expect(error).toMatchObject({ hint: expect.stringContaining('VLLM_SERVER_DEV_MODE=1') });
  });

  it('that cannot load from another folder says so, and is resumed', async () => {
    const old = answers({ detail: "Worker.reload_weights() got an unexpected keyword argument 'weights_path'" }, 500);
    const { server, worker: vllm } = await worker({ '/pause': ok, '/collective_rpc': old, '/resume': ok });
    const error = await vllm.load!(3, weights).catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(UncertainVersion);
    expect(error).toMatchObject({ hint: expect.stringContaining('--update restart') });
    expect(server.to('/resume')).toHaveLength(1);
  });

  it.each([
    ['hangs', { '/collective_rpc': hangs }],
    ['breaks', { '/collective_rpc': resets }],
    ['fails', { '/collective_rpc': answers('out of memory', 500) }],
    ['keeps its cache', { '/collective_rpc': ok, '/reset_prefix_cache': answers('', 404) }],
    ['stays paused', { '/pause': ok, '/collective_rpc': ok, '/reset_prefix_cache': ok, '/resume': answers('', 500) }],
  ])('that %s while loading has a version that nobody knows', async (_, scripts) => {
    const { worker: vllm } = await worker(scripts);
    await expect(vllm.load!(3, weights)).rejects.toBeInstanceOf(UncertainVersion);
    expect(vllm.version).toBe(0);
  });
});

describe('an SGLang', () => {
  const models = { '/v1/models': answers(modelsOf('sglang')) };
  const updated = answers({ success: true, message: 'Succeeded to update model weights.', num_paused_requests: 0 });

  it('is told folder and version, and forgets its cache', async () => {
    const { server, worker: sglang } = await worker({ ...models, '/update_weights_from_disk': updated });
    await sglang.load!(5, weights);
    expect(posted(server)).toEqual([
      `/update_weights_from_disk {"model_path":"${weights}","weight_version":"5","flush_cache":true}`,
    ]);
    expect(sglang.version).toBe(5);
  });

  it.each([
    [
      'says that it failed',
      answers({ success: false, message: 'no such folder', num_paused_requests: 0 }),
      'no such folder',
    ],
    ['refuses', answers({ success: false, message: 'no such folder' }, 400), 'no such folder'],
  ])('that %s keeps its version', async (_, script, message) => {
    const { worker: sglang } = await worker({ ...models, '/update_weights_from_disk': script });
    const error = await sglang.load!(5, weights).catch((reason: unknown) => reason);
    expect(error).not.toBeInstanceOf(UncertainVersion);
    expect((error as Error).message).toContain(message);
    expect(sglang.version).toBe(0);
  });

  it('that hangs while loading has a version that nobody knows', async () => {
    const { worker: sglang } = await worker({ ...models, '/update_weights_from_disk': hangs });
    await expect(sglang.load!(5, weights)).rejects.toBeInstanceOf(UncertainVersion);
  });

  it('is asked for the version that it has when it comes back', async () => {
    const info = answers({ model_path: '/m', weight_version: '9' });
    const { worker: sglang } = await worker({ ...models, '/get_model_info': [answers('', 404), info] });
    expect(sglang.version).toBe(0);
    await sglang.cameBack();
    expect(sglang.version).toBe(9);
  });
});

describe('any server', () => {
  it('of which nothing is known cannot be given versions', async () => {
    const { worker: other } = await worker({ '/v1/models': answers(modelsOf('somebody')) });
    expect(other.load).toBeUndefined();
    expect((await worker({}, { update: 'off' })).worker.load).toBeUndefined();
  });

  it('is healthy where it answers, also without /health', async () => {
    const { signal } = new AbortController();
    await (await worker()).worker.check(signal);
    await (await worker({ '/health': answers('', 404) })).worker.check(signal);
    await expect((await worker({ '/health': answers('', 503) })).worker.check(signal)).rejects.toThrow('status 503');
  });

  it('says how much it has to do, or is not asked again', async () => {
    const { signal } = new AbortController();
    const busy = await worker({ '/metrics': answers('vllm:num_requests_running 2\nvllm:num_requests_waiting 3\n') });
    expect(await busy.worker.queued(signal)).toBe(5);
    const silent = await worker();
    expect([await silent.worker.queued(signal), await silent.worker.queued(signal)]).toEqual([null, null]);
    expect(silent.server.to('/metrics')).toHaveLength(1);
  });
});
