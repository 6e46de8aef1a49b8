import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../lib/cli/paths.ts';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-switches-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const shell = (command: string) =>
  execa('bash', ['-o', 'pipefail', '-c', command], { cwd: packageRoot(), stdin: 'ignore', reject: false });

describe('the loop without any of the six ideas', () => {
  it('still learns, in batches, with every worker changing its version at once', async () => {
    const policy = `${dir}/policy`;
    const shared = `--store sqlite:${dir}/dart.db --blobs ${dir}/blobs --quiet`;
    const publish = `--publish ${policy} --run-id plain ${shared}`;
    const base = await shell(
      `bin/dart-train --policy onnx:fixtures/policies/base.onnx --max-updates 0 ${publish} < /dev/null`,
    );
    expect(base.exitCode, base.stderr).toBe(0);
    const { exitCode, stderr } = await shell(
      [
        `bin/dart-rollout --tasks fixtures/tasks/embedded --sample 6 --seed 3 --env embedded:8 --policy onnx:${policy} --follow -n 4 --max-steps 8 --mode batch --batch-groups 6 --sync global --no-dynamic-rollouts --no-dynamic-length --run-id plain ${shared}`,
        `bin/dart-curate - --follow --no-pool ${shared}`,
        `bin/dart-train - --follow --no-tis --keep-entropy 1 --kl-beta 0 --batch-samples 16 --max-updates 3 ${publish} > ${dir}/train.ndjson`,
      ].join(' | '),
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    const records = readFileSync(join(dir, 'train.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const metric = (name: string) => records.filter((r) => r.name === `train/${name}`).map((r) => r.value);
    expect(metric('tis_mean')).toEqual([1, 1, 1]);
    expect(metric('kept_steps')).toEqual(metric('steps'));
    expect(metric('injected_steps')).toEqual([0, 0, 0]);
    expect(records.at(-1)).toMatchObject({ type: 'summary', updates: 3, stopped: 'max-updates' });
  });
});
