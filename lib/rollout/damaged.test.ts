import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openEnvironments } from '../environment/open.ts';
import { DamagedFile } from '../policy/network/published.ts';
import { writeSafetensors } from '../policy/network/safetensors.ts';
import { TrainableNetwork } from '../policy/network/trainable.ts';
import { someTask } from '../policy/request.testing.ts';
import type { Trajectory } from '../stream/records.ts';
import { sha256Of } from '../stream/sha256.ts';
import { runSession } from './session.ts';
import { stoppingOf } from './stopping.ts';

let folder = '';
let weights = new Uint8Array();
let flipped = new Uint8Array();
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dart-damaged-'));
  copyFileSync(join(import.meta.dirname, '../../fixtures/policies/base.onnx'), join(folder, 'policy.onnx'));
  const network = await TrainableNetwork.open(join(folder, 'policy.onnx'), {});
  weights = new Uint8Array(writeSafetensors(network.weights, {}));
  flipped = weights.slice();
  flipped[flipped.length - 1]! ^= 0x80;
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Publishes a version with these bytes in place of the weights that its manifest tells of. */
function publish(version: number, bytes: Uint8Array): void {
  const path = `versions/00000${version}`;
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, 'weights.safetensors'), bytes);
  const files = { 'weights.safetensors': { bytes: weights.length, sha256: sha256Of(weights) } };
  writeFileSync(join(folder, path, 'manifest.json'), JSON.stringify({ version, files }));
  writeFileSync(join(folder, 'latest.tmp'), JSON.stringify({ version, path }));
  renameSync(join(folder, 'latest.tmp'), join(folder, 'latest.json'));
}

async function run(
  warnings: string[],
  more: { rollouts?: number; write?: (t: Trajectory) => void; stop?: AbortSignal },
) {
  const { rollouts = 1, write = () => {}, stop = new AbortController().signal } = more;
  const environments = await openEnvironments('embedded:1');
  return runSession({
    ...{ runId: 'run', tasks: [someTask('os/a')], environments, policy: `onnx:${folder}`, workers: 1, rollouts },
    ...{ follow: rollouts > 1, mode: 'async', batchGroups: 1, versionWaitMs: 1, sync: 'one', syncIntervalMs: 1 },
    ...{ evaluation: false, dynamicRollouts: false, dynamicLength: false, successWindow: 16, failAtLimit: false },
    ...{ limits: { minSteps: 1, maxSteps: 1, slack: 0 }, sampling: { temperature: 1 }, onParseError: 'observe' },
    ...{ seed: 1, blobs: { putSync: () => '0'.repeat(64) }, store: null, write: async (t) => write(t) },
    notes: { warn: (text) => warnings.push(text), info: () => {}, progress: () => {} },
    stopping: stoppingOf(stop, 1000, () => false),
  }).finally(() => environments.close());
}

it('takes the newest whole version where the newest is cut short, and says so', async () => {
  publish(1, weights);
  publish(2, weights.subarray(0, 1000));
  const warnings: string[] = [];
  expect((await run(warnings, {})).version).toBe(1);
  expect(warnings).toContain('version 2 cannot be loaded; version 1 is taken instead');
});

it('does not begin with a version that has other bytes than were written', async () => {
  publish(1, weights);
  publish(2, flipped);
  const warnings: string[] = [];
  const written: Trajectory[] = [];
  const end = run(warnings, { write: (trajectory) => written.push(trajectory) });
  await expect(end).rejects.toBeInstanceOf(DamagedFile);
  await expect(end).rejects.toMatchObject({
    message: 'the file is not as it was written: its sha256 differs from the manifest',
    where: join(folder, 'versions/000002/weights.safetensors'),
  });
  expect([written, warnings]).toEqual([[], []]);
});

it('goes on with the version that it has where such a one is published meanwhile, and says so once', async () => {
  publish(1, weights);
  const warnings: string[] = [];
  const stop = new AbortController();
  const versions: number[] = [];
  let later = 0;
  const write = (trajectory: Trajectory) => {
    versions.push(...trajectory.policy.versions);
    if (versions.length === 1) publish(2, flipped);
    if (warnings.length > 0) later += 1;
    if (later === 16) publish(3, weights);
    if (trajectory.policy.versions.includes(3) || versions.length > 20_000) stop.abort();
  };
  expect((await run(warnings, { rollouts: 4, write, stop: stop.signal })).version).toBe(3);
  expect(new Set(versions)).toEqual(new Set([1, 3]));
  expect(warnings).toEqual([expect.stringContaining('version 1 → 2 failed, the old one serves on: ')]);
  expect(warnings[0]).toContain('its sha256 differs from the manifest');
});
