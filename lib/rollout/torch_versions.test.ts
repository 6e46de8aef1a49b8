import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answers, FakeServer } from '../policy/openai/fake_server.testing.ts';
import { openServers } from '../policy/openai/open.ts';
import { modelsOf } from '../policy/openai/shapes.testing.ts';
import { linkModel } from '../training/torch/base.ts';
import { pointLatest, pruneStates, versionFolder, writeVersion } from '../training/versions.ts';
import { PublishedDirectory } from './versions.ts';
import { ServerWorker } from './worker_server.ts';

/** A folder as `dart-train --engine torch` fills it: the checkpoint as version 0, then whole weights and adapters. */
let root = '';
let dir = '';
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'dart-torch-versions-'));
  dir = join(root, 'run');
  const base = mkdtempSync(join(root, 'base-'));
  for (const name of ['config.json', 'model.safetensors']) writeFileSync(join(base, name), '{}');
  const put = async (folder: string, ...names: string[]) => {
    for (const name of names) writeFileSync(join(folder, name), '{}');
  };
  await writeVersion(dir, 0, 'r', (folder) => linkModel(base, folder));
  await writeVersion(dir, 1, 'r', (folder) => put(folder, 'config.json', 'model.safetensors'));
  await writeVersion(dir, 2, 'r', (folder) => put(folder, 'adapter_config.json', 'adapter_model.safetensors'));
});
afterAll(() => rmSync(root, { recursive: true }));

const ok = answers('Success');

async function withServer<T>(engine: 'vllm' | 'sglang', use: (worker: ServerWorker, server: FakeServer) => Promise<T>) {
  const loads = ['/collective_rpc', '/reset_prefix_cache', '/v1/load_lora_adapter'].map((path) => [path, ok] as const);
  const updated = answers({ success: true, message: '' });
  const server = await FakeServer.start({
    ...Object.fromEntries(loads),
    ...{ '/v1/models': answers(modelsOf(engine)), '/update_weights_from_disk': updated },
  });
  try {
    const [opened] = await openServers({ api: 'chat', urls: [server.url] }, {});
    const options = { engine: opened!.engine, loadTimeoutMs: 10_000 };
    return await use(new ServerWorker(opened!.policy, options), server);
  } finally {
    await server.close();
  }
}

describe('versions of the torch engine', () => {
  it('are found by rollouts, the checkpoint that training began with among them', async () => {
    const source = new PublishedDirectory(dir);
    await pointLatest(dir, 2);
    expect(await source.latest()).toEqual({ version: 2, path: versionFolder(dir, 2) });
    expect(await source.before(2)).toEqual({ version: 1, path: versionFolder(dir, 1) });
    expect(await source.before(1)).toEqual({ version: 0, path: versionFolder(dir, 0) });
  });

  it('are loaded by vLLM from their folder: whole weights, then an adapter', async () => {
    await withServer('vllm', async (worker, server) => {
      await worker.load!(1, versionFolder(dir, 1));
      expect(server.to('/collective_rpc')[0]!.body).toMatchObject({ kwargs: { weights_path: versionFolder(dir, 1) } });
      await worker.load!(2, versionFolder(dir, 2));
      expect(server.to('/v1/load_lora_adapter')[0]!.body).toMatchObject({ lora_path: versionFolder(dir, 2) });
      expect(worker.version).toBe(2);
    });
  });

  it('are loaded by SGLang where they are whole; an adapter is refused with what to do', async () => {
    await withServer('sglang', async (worker, server) => {
      await worker.load!(1, versionFolder(dir, 1));
      expect(server.to('/update_weights_from_disk')[0]!.body).toMatchObject({ model_path: versionFolder(dir, 1) });
      await expect(worker.load!(2, versionFolder(dir, 2))).rejects.toMatchObject({
        message: 'the version is a LoRA adapter, and whole weights are wanted here',
        hint: expect.stringContaining('--enable-lora'),
      });
      expect(worker.version).toBe(1);
    });
  });

  it('stay whole without their state', async () => {
    const folder = await writeVersion(dir, 3, 'r', async (at) => {
      writeFileSync(join(at, 'adapter_config.json'), '{}');
      mkdirSync(join(at, 'state'));
      writeFileSync(join(at, 'state', '.metadata'), 'x');
    });
    await writeVersion(dir, 4, 'r', async (at) => writeFileSync(join(at, 'adapter_config.json'), '{}'));
    await pruneStates(dir, 1);
    expect(await new PublishedDirectory(dir).before(4)).toEqual({ version: 3, path: folder });
  });
});
