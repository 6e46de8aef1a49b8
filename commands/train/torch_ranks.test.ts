import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { makeStep, makeTrajectory } from '../../lib/stream/records.testing.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { torchPython } from '../../lib/stream/torch.testing.ts';
import { listVersions } from '../../lib/training/versions.ts';
import { greyScreen, groupLines, lines, REPLIES } from './fixture.testing.ts';
import { spec } from './spec.ts';

const TINY = resolve(import.meta.dirname, '../../native/torch/tests/tiny.py');
/** Reads a version as anybody would: says how far its weights are from those of the base, and what it reads a screen as. */
const LOAD = `
import sys
sys.path.insert(0, sys.argv[3])
import dart_torch, torch
from transformers import AutoModelForImageTextToText, AutoProcessor
base, version = (AutoModelForImageTextToText.from_pretrained(path) for path in sys.argv[1:3])
moved = sum((a - b).abs().sum().item() for a, b in zip(base.parameters(), version.parameters()))
still = sum((a - b).abs().sum().item() for a, b in zip(base.model.visual.parameters(), version.model.visual.parameters()))
AutoProcessor.from_pretrained(sys.argv[2])
print(moved > 0, still == 0)
`;

describe.skipIf(!torchPython)('dart-train --engine torch, with PyTorch on two ranks', () => {
  let cwd = '';
  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), 'dart-ranks-'));
    const made = spawnSync(torchPython!, [TINY, 'tiny'], { cwd, encoding: 'utf8' });
    if (made.status !== 0) throw new Error(made.stderr);
    writeFileSync(join(cwd, 'samples.ndjson'), groupLines(4, greyScreen(join(cwd, 'blobs'))));
  });
  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  async function train(publish: string, args: string[], { onRecord = (_: AnyRecord) => {}, stdin = '' } = {}) {
    const { PATH, HOME } = process.env;
    const input = new PassThrough();
    input.end(stdin);
    const io = testIo({ cwd, stdin: input, env: { XDG_CONFIG_HOME: '/nonexistent', PATH, HOME, DART_MARK: publish } });
    io.stdout.on('data', (chunk) => {
      for (const line of String(chunk).split('\n').filter(Boolean)) onRecord(JSON.parse(line));
    });
    const shared = ['--policy', 'hf:tiny', '--blobs', 'blobs', '--python', torchPython!, '--run-id', 'r'];
    const model = ['--nproc', '2', '--dtype', 'float32', '--micro-tokens', '2048', '--lr', '1e-3'];
    const code = await runCommand(spec, ['--publish', publish, ...shared, ...model, ...args], io);
    const values = (name: string) => io.records().flatMap((r) => (r.name === name ? [r.value as number] : []));
    return { code, err: io.err(), values, summary: io.records().at(-1) };
  }

  const grpo = ['samples.ndjson', '--preset', 'grpo', '--batch-samples', '6', '--minibatches', '2'];

  it('publishes versions that from_pretrained reads, and goes on as if it had not stopped', async () => {
    const whole = await train('whole', grpo);
    expect([whole.err, whole.code, whole.summary?.version]).toEqual([expect.anything(), 0, 2]);
    const version = join(cwd, 'whole/versions/000002');
    const loaded = spawnSync(torchPython!, ['-c', LOAD, join(cwd, 'tiny'), version, resolve(TINY, '../..')], {
      encoding: 'utf8',
    });
    // The weights have moved, but not those of the vision tower.
    expect([loaded.stdout.trim(), loaded.status], loaded.stderr).toEqual(['True True', 0]);

    await train('halves', [...grpo, '--max-updates', '1']);
    const rest = await train('halves', grpo);
    expect(rest.summary).toMatchObject({ version: 2, updates: 2, groups: 4 });
    for (const name of ['train/loss', 'train/grad_norm', 'train/entropy', 'train/approx_kl']) {
      expect(rest.values(name)[0]).toBeCloseTo(whole.values(name)[1]!, 6);
    }
    expect(weightsIn(join(cwd, 'halves/versions/000002')).equals(weightsIn(version))).toBe(true);
  });

  it('imitates with adapters; a rank that is killed is named, and the same command goes on', async () => {
    const steps = REPLIES.map((text, i) => makeStep(i, { text }, greyScreen(join(cwd, 'blobs'))));
    const sft = ['--objective', 'sft', '--lora', '4', '--epochs', '8', '--batch-samples', '3', '--publish-every', '1'];
    const stdin = lines([makeTrajectory(steps)]);
    let killed = 0;
    const kill = (record: AnyRecord) => {
      if (killed > 0 || record.name !== 'train/loss' || record.update !== 3) return;
      killed = rankOf('adapters', 1);
      process.kill(killed, 'SIGKILL');
    };
    const first = await train('adapters', sft, { stdin, onRecord: kill });
    expect([first.code, first.err]).toEqual([2, expect.stringContaining('rank 1 was ended by SIGKILL')]);
    const versions = listVersions(join(cwd, 'adapters'));
    expect(versions.slice(0, 3)).toEqual([0, 1, 2]);
    expect(readdirSync(join(cwd, 'adapters/versions')).filter((name) => name.startsWith('.'))).toEqual([]);

    const second = await train('adapters', sft, { stdin });
    expect([second.code, second.summary?.version]).toEqual([0, 8]);
    const losses = [...first.values('train/loss').slice(0, versions.at(-1)), ...second.values('train/loss')];
    expect(losses).toHaveLength(8);
    expect(losses.at(-1)).toBeLessThan(losses[0]!);
    const files = readdirSync(join(cwd, 'adapters/versions/000008'));
    expect(files).toEqual(
      expect.arrayContaining(['adapter_config.json', 'adapter_model.safetensors', 'manifest.json']),
    );
  });
});

function weightsIn(version: string): Buffer {
  return readFileSync(join(version, 'model.safetensors'));
}

/** The process of a rank of the run that this mark is in the environment of. */
function rankOf(mark: string, rank: number): number {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return environment.includes(`DART_MARK=${mark}`) && environment.includes(`RANK=${rank}`);
      } catch {
        return false;
      }
    });
  return Number(found);
}
