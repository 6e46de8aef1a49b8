import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEnvironments } from '../environment/open.ts';
import { DEFAULT_CONFIG } from '../policy/network/config.ts';
import { writePolicyFile } from '../policy/network/policy_file.ts';
import { writeSafetensors } from '../policy/network/safetensors.ts';
import { initialWeights } from '../policy/network/weights.ts';
import { someTask } from '../policy/request.testing.ts';
import type { Trajectory } from '../stream/records.ts';
import { runSession } from './session.ts';
import { stoppingOf } from './stopping.ts';

/** The embedded policy in a published directory, followed while the rollouts go on. */
let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-sync-'));
  writeFileSync(join(dir, 'policy.onnx'), writePolicyFile(DEFAULT_CONFIG, initialWeights(DEFAULT_CONFIG, 1)));
});
afterAll(() => rmSync(dir, { recursive: true }));

function publish(version: number, seed: number): void {
  const path = `versions/${String(version).padStart(6, '0')}`;
  mkdirSync(join(dir, path), { recursive: true });
  writeFileSync(join(dir, path, 'weights.safetensors'), writeSafetensors(initialWeights(DEFAULT_CONFIG, seed)));
  writeFileSync(join(dir, 'latest.tmp'), JSON.stringify({ version, path }));
  renameSync(join(dir, 'latest.tmp'), join(dir, 'latest.json'));
}

describe('rollouts of a policy that is being trained', () => {
  it.each(['one', 'global'] as const)(
    'take new versions as they are published, sync %s; each step knows its own',
    async (sync) => {
      rmSync(join(dir, 'latest.json'), { force: true });
      const environments = await openEnvironments('embedded:4');
      const stop = new AbortController();
      const written: Trajectory[] = [];
      const warnings: string[] = [];
      const { syncs, version } = await runSession({
        ...{
          runId: 'run',
          tasks: [someTask('os/a'), someTask('os/b')],
          environments,
          policy: `onnx:${dir}`,
          workers: 2,
        },
        ...{ rollouts: 4, follow: true, mode: 'async', batchGroups: 1, versionWaitMs: 0, sync, syncIntervalMs: 5 },
        ...{ seed: 1, evaluation: false, dynamicRollouts: false, dynamicLength: false, successWindow: 16 },
        ...{ limits: { minSteps: 4, maxSteps: 4, slack: 0 }, sampling: { temperature: 1 }, onParseError: 'observe' },
        ...{ failAtLimit: false, blobs: { putSync: () => 'a'.repeat(64) }, store: null },
        write: async (trajectory) => {
          written.push(trajectory);
          if (written.length === 4) publish(7, 2);
          if (written.length > 4 && trajectory.policy.versions.includes(7)) stop.abort();
          if (written.length > 5000) stop.abort(new Error('no new version was taken'));
        },
        notes: { warn: (text) => warnings.push(text), info: () => {}, progress: () => {} },
        stopping: stoppingOf(stop.signal, 10_000, () => false),
      });
      await environments.close();
      expect(warnings).toEqual([]);
      expect(version).toBe(7);
      expect(syncs).toBe(2);
      const versions = written.flatMap(({ steps }) => steps.map((step) => step.model_version));
      expect(new Set(versions)).toEqual(new Set([0, 7]));
      for (const { policy, steps } of written) {
        const own = [...new Set(steps.map((step) => step.model_version))];
        expect(policy.versions).toEqual(own);
        for (const { response } of steps) expect(response.logprobs).toHaveLength(response.token_ids.length);
      }
    },
  );
});
