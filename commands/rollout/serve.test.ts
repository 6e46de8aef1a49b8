import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestIo, testIo } from '../../lib/cli/io.testing.ts';
import { packageRoot } from '../../lib/cli/paths.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { Interrupted } from '../../lib/cli/stop.ts';
import { DEFAULT_CONFIG } from '../../lib/policy/network/config.ts';
import { writePolicyFile } from '../../lib/policy/network/policy_file.ts';
import { writeSafetensors } from '../../lib/policy/network/safetensors.ts';
import { initialWeights } from '../../lib/policy/network/weights.ts';
import type { Trajectory } from '../../lib/stream/records.ts';
import { spec } from './spec.ts';

const SUITE = join(packageRoot(), 'fixtures/tasks/embedded');
const BASE = join(packageRoot(), 'fixtures/policies/base.onnx');
const TASKS = ['chrome-bookmark-tea', 'calc-write-b2-7', 'os-folder-garden'].flatMap((id) => ['--task', id]);

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dart-serve-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Runs `dart-rollout serve` until the returned function is called, which gives its exit code. */
async function serve(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ io: TestIo; url: string; end(): Promise<number> }> {
  const stop = new AbortController();
  const io = testIo({ cwd: dir, signal: stop.signal, env: { XDG_CONFIG_HOME: '/nonexistent', ...env } });
  const running = runCommand(spec, ['serve', '--port', '0', '--quiet', ...args], io);
  let over = false;
  running.then(() => {
    over = true;
  });
  while (io.records().length === 0 && !over) await new Promise((resolve) => setTimeout(resolve, 5));
  const url = (io.records()[0]?.url as string | undefined) ?? '';
  const end = () => {
    stop.abort(new Interrupted('SIGTERM'));
    return running;
  };
  return { io, url, end };
}

async function rollout(args: string[], env: Record<string, string> = {}) {
  const io = testIo({ cwd: dir, env: { XDG_CONFIG_HOME: '/nonexistent', ...env } });
  const fixed = [
    '--tasks',
    SUITE,
    '--env',
    'embedded:4',
    '--blobs',
    'blobs',
    '--quiet',
    '--run-id',
    'r',
    '--seed',
    '5',
  ];
  const code = await runCommand(spec, [...fixed, ...args], io);
  const trajectories = io.records().filter(({ type }) => type === 'trajectory') as unknown as Trajectory[];
  return { code, err: io.err(), summary: io.records().at(-1)!, trajectories };
}

describe('dart-rollout serve', () => {
  it('gives the rollouts of a client the replies that the policy gives at home', async () => {
    const server = await serve(['--policy', `onnx:${BASE}`]);
    const args = [...TASKS, '-n', '3', '--max-steps', '12'];
    const home = await rollout([...args, '--policy', `onnx:${BASE}`]);
    const far = await rollout([...args, '--policy', `openai:${server.url}`]);
    expect([home.code, home.err, far.code, far.err]).toEqual([0, '', 0, '']);
    const shape = ({ trajectories }: typeof home) =>
      trajectories
        .map(({ trajectory_id, reward, outcome, steps }) => ({
          ...{ trajectory_id, reward, outcome },
          steps: steps.map(({ response, observation, actions, model_version, prompt }) => {
            const { text, token_ids, finish_reason } = response;
            return { text, token_ids, finish_reason, observation, actions, model_version, prompt };
          }),
        }))
        .sort((a, b) => a.trajectory_id.localeCompare(b.trajectory_id));
    expect(far.trajectories).toHaveLength(9);
    expect(shape(far)).toEqual(shape(home));
    // The network may be asked in other batches, so that the last bits of its numbers may differ.
    const numbers = ({ trajectories }: typeof home) =>
      [...trajectories]
        .sort((a, b) => a.trajectory_id.localeCompare(b.trajectory_id))
        .flatMap(({ steps }) => steps.flatMap(({ response }) => [...response.logprobs, ...response.entropies!]));
    const [there, here] = [numbers(far), numbers(home)];
    expect(there).toHaveLength(here.length);
    for (const [i, value] of there.entries()) expect(value).toBeCloseTo(here[i]!, 4);
    expect(far.summary).toMatchObject({
      policy: 'openai:onnx:base.onnx',
      unscored_tokens: 0,
      success: home.summary.success,
    });
    expect(await server.end()).toBe(143);
    const steps = far.trajectories.reduce((sum, trajectory) => sum + trajectory.steps.length, 0);
    expect(server.io.records().at(-1)).toMatchObject({ type: 'summary', answered: steps, failed: 0 });
  });

  it('asks for a token where others could reach it, and takes it from the environment of the client', async () => {
    const open = await serve(['--policy', 'fixed:finished', '--host', '0.0.0.0']);
    expect([await open.end(), open.io.err()]).toEqual([2, expect.stringContaining('--token FILE')]);
    writeFileSync(join(dir, 'token.txt'), 'open-sesame\n');
    const server = await serve(['--policy', 'fixed:finished', '--host', '0.0.0.0', '--token', 'token.txt']);
    const url = server.url.replace('0.0.0.0', '127.0.0.1');
    const args = ['--task', 'chrome-bookmark-tea', '-n', '1', '--policy', `openai:${url}`];
    const stranger = await rollout(args);
    expect([stranger.code, stranger.err]).toEqual([2, expect.stringContaining('DART_API_KEY')]);
    for (const name of ['DART_API_KEY', 'OPENAI_API_KEY']) {
      const friend = await rollout(args, { [name]: 'open-sesame' });
      expect([friend.code, friend.trajectories.length]).toEqual([0, 1]);
      expect(JSON.stringify(friend.trajectories) + friend.err).not.toContain('open-sesame');
    }
    await server.end();
  });

  it('takes the versions that a client follows, and answers as the policy does at home with them', async () => {
    const published = join(dir, 'published');
    mkdirSync(join(published, 'versions/000003'), { recursive: true });
    writeFileSync(join(published, 'policy.onnx'), writePolicyFile(DEFAULT_CONFIG, initialWeights(DEFAULT_CONFIG, 1)));
    const weights = writeSafetensors(initialWeights(DEFAULT_CONFIG, 2));
    writeFileSync(join(published, 'versions/000003/weights.safetensors'), weights);
    writeFileSync(join(published, 'latest.json'), '{"version":3,"path":"versions/000003"}');
    const first = join(published, 'policy.onnx');
    const servers = [
      await serve(['--policy', `onnx:${first}`, '--updates']),
      await serve(['--policy', `onnx:${first}`]),
    ];
    const args = ['--task', 'chrome-bookmark-tea', '-n', '4', '--max-steps', '4'];
    const home = await rollout([...args, '--policy', `onnx:${published}`]);
    const texts = ({ trajectories }: typeof home) =>
      trajectories.map(({ trajectory_id, steps }) => [trajectory_id, steps.map((step) => step.response.text)]).sort();
    const willing = await rollout([...args, '--policy', `openai:${servers[0]!.url}`, '--versions', published]);
    expect(texts(willing)).toEqual(texts(home));
    for (const { trajectories } of [home, willing]) {
      expect(new Set(trajectories.flatMap(({ policy }) => policy.versions))).toEqual(new Set([3]));
    }
    expect(willing.summary).toMatchObject({ version: 3, syncs: 1 });
    // One that takes no orders keeps its version, and that is told.
    const unwilling = await rollout([...args, '--policy', `openai:${servers[1]!.url}`, '--versions', published]);
    expect(unwilling.err).toContain('version 0 → 3 failed, the old one serves on');
    expect(unwilling.err).toContain('(--updates)');
    expect(new Set(unwilling.trajectories.flatMap(({ policy }) => policy.versions))).toEqual(new Set([0]));
    await Promise.all(servers.map((server) => server.end()));
  });

  it('does not begin with a version that has other bytes than were written', async () => {
    const published = join(dir, 'damaged');
    const folder = join(published, 'versions/000001');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(published, 'policy.onnx'), writePolicyFile(DEFAULT_CONFIG, initialWeights(DEFAULT_CONFIG, 1)));
    const weights = writeSafetensors(initialWeights(DEFAULT_CONFIG, 2));
    writeFileSync(join(folder, 'weights.safetensors'), weights);
    const files = { 'weights.safetensors': { bytes: weights.length, sha256: '0'.repeat(64) } };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ version: 1, files }));
    writeFileSync(join(published, 'latest.json'), '{"version":1,"path":"versions/000001"}');
    const open = await serve(['--policy', `onnx:${published}`]);
    const sentence = `${join(folder, 'weights.safetensors')}: the file is not as it was written`;
    expect([await open.end(), open.io.err()]).toEqual([2, expect.stringContaining(sentence)]);
  });

  it('passes requests on to a server behind it', async () => {
    const behind = await serve(['--policy', 'fixed:fail']);
    const front = await serve(['--policy', `openai:${behind.url}`]);
    const { trajectories } = await rollout([
      '--task',
      'chrome-bookmark-tea',
      '-n',
      '2',
      '--policy',
      `openai:${front.url}`,
    ]);
    expect(trajectories.map(({ steps }) => steps.map(({ response }) => response.text))).toEqual([
      ['Action: fail()'],
      ['Action: fail()'],
    ]);
    await front.end();
    await behind.end();
  });

  it.each([
    [['--policy', 'script'], 'script needs the desktop itself, and cannot be served'],
    [['--policy', 'onnx:missing.onnx'], 'there is no such policy file'],
    [['--policy', 'openai:http://127.0.0.1:3'], 'nobody answers there'],
    [['--policy', 'fixed:fail', '--token', 'missing.txt'], 'missing.txt: cannot read the token'],
    [['--policy', 'openai', '--spawn', 'vllm serve m'], 'the command does not take its port'],
  ])('says what is wrong with %j', async (args, message) => {
    const server = await serve(args);
    expect([await server.end(), server.io.err()]).toEqual([2, expect.stringContaining(message)]);
  });
});
