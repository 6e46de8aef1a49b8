import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { EmbeddedDriver } from '../environment/embedded.ts';
import { FakeGuest } from '../environment/fake.testing.ts';
import { EnvironmentPool } from '../environment/pool.ts';
import { writeSafetensors } from '../policy/network/safetensors.ts';
import { TrainableNetwork } from '../policy/network/trainable.ts';
import { someTask } from '../policy/request.testing.ts';
import { runSession } from './session.ts';
import { stoppingOf } from './stopping.ts';

const folder = mkdtempSync(join(tmpdir(), 'dart-damaged-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('takes the newest whole version where the newest is damaged, and says so', async () => {
  copyFileSync(join(import.meta.dirname, '../../fixtures/policies/base.onnx'), join(folder, 'policy.onnx'));
  const network = await TrainableNetwork.open(join(folder, 'policy.onnx'), {});
  const weights = writeSafetensors(network.weights, {});
  for (const version of [1, 2]) {
    const path = join(folder, `versions/00000${version}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'weights.safetensors'), version === 1 ? weights : weights.subarray(0, 1000));
    const files = { 'weights.safetensors': { bytes: weights.length } };
    writeFileSync(join(path, 'manifest.json'), JSON.stringify({ version, files }));
  }
  writeFileSync(join(folder, 'latest.json'), '{"version":2,"path":"versions/000002"}');
  const warnings: string[] = [];
  const environments = new EnvironmentPool([new EmbeddedDriver(1, (id) => new FakeGuest(id))]);
  const end = await runSession({
    ...{ runId: 'run', tasks: [someTask('os/a')], environments, policy: `onnx:${folder}`, workers: 1, rollouts: 1 },
    ...{ follow: false, mode: 'async', batchGroups: 1, versionWaitMs: 1, sync: 'one', syncIntervalMs: 1, seed: 1 },
    ...{ evaluation: false, dynamicRollouts: false, dynamicLength: false, successWindow: 16, failAtLimit: false },
    ...{ limits: { minSteps: 1, maxSteps: 1, slack: 0 }, sampling: { temperature: 1 }, onParseError: 'observe' },
    ...{ blobs: { putSync: () => '0'.repeat(64) }, store: null, write: async () => {} },
    notes: { warn: (text) => warnings.push(text), info: () => {}, progress: () => {} },
    stopping: stoppingOf(new AbortController().signal, 1000, () => false),
  }).finally(() => environments.close());
  expect(end.version).toBe(1);
  expect(warnings).toContain('version 2 cannot be loaded; version 1 is taken instead');
});
