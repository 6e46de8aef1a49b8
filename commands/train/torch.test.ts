import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { Interrupted } from '../../lib/cli/stop.ts';
import { makeStep } from '../../lib/stream/records.testing.ts';
import { listVersions, readManifest } from '../../lib/training/versions.ts';
import { greyScreen, groupLines, lines, makeGroup } from './fixture.testing.ts';
import { spec } from './spec.ts';
import { type FakeTorch, fakeCheckpoint, fakeTorch } from './torch.testing.ts';

let cwd = '';
let screenshot = '';
let fake: FakeTorch;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-torch-'));
  screenshot = greyScreen(join(cwd, 'blobs'));
  fake = fakeTorch(cwd);
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

let serial = 0;
let dir = '';
beforeEach(() => {
  serial += 1;
  dir = `policy${serial}`;
  fake.forget();
});

interface Surroundings {
  stdin?: string | Readable;
  /** What the fake does: FAKE_TORCH, or other variables. */
  fake?: string;
  env?: Record<string, string>;
  signal?: AbortSignal;
  onOut?: (text: string) => void;
}

async function train(args: string[], { stdin = '', fake: mode = '', env = {}, signal, onOut }: Surroundings = {}) {
  const io = testIo({
    cwd,
    stdin,
    env: { XDG_CONFIG_HOME: '/nonexistent', PATH: process.env.PATH, FAKE_TORCH: mode, ...env },
    ...(signal ? { signal } : {}),
  });
  if (onOut) io.stdout.on('data', (chunk) => onOut(String(chunk)));
  const code = await runCommand(spec, args, io);
  return { code, records: io.records(), err: io.err(), summary: io.records().at(-1) };
}

const usual = () => ({
  ...{ '--publish': dir, '--policy': 'hf:checkpoint', '--python': './python', '--blobs': 'blobs', '--preset': 'grpo' },
  ...{ '--batch-samples': '6', '--nproc': '2', '--run-id': 'r' },
});
/** The options that most runs here share, but those that are given. */
const into = (...more: string[]) => [
  ...Object.entries(usual())
    .filter(
      ([name]) =>
        !more.includes(name) &&
        !(name === '--batch-samples' && more.some((option) => /^--(objective|batch-groups)$/.test(option))),
    )
    .flat(),
  ...more,
];
const samples = (groups: number) => groupLines(groups, screenshot);
const version = (number: number, name = '') => join(cwd, dir, 'versions', String(number).padStart(6, '0'), name);
const weightsOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as { weights: number; steps: number };
const asked = (what: string) => fake.asked().filter((request) => request.do === what);
const metric = (records: { type: string; [field: string]: unknown }[], name: string) =>
  records.filter((record) => record.name === name).map((record) => record.value);

describe('dart-train --engine torch', () => {
  it('learns in processes of Python, and publishes what they save', async () => {
    const { code, err, records, summary } = await train(into(), { stdin: samples(4) });
    expect([code, summary?.version, summary?.updates]).toEqual([0, 2, 2]);
    expect(err).toContain('torch engine: Python 3.12.0, torch 2.13.0, transformers 5.18.0');
    expect(err).toContain('2 ranks on cpu (gloo), bfloat16: 1000 weights, 900 of them trained, 1.0 GiB a rank');
    expect(err).toContain('rank 0: a line of rank 0');
    expect(metric(records, 'train/loss')).toEqual([1, 0.5]);
    expect(metric(records, 'train/approx_kl')).toEqual([0.5, 0.5]);
    expect(metric(records, 'train/tokens')).toEqual([24, 24]);
    expect(metric(records, 'train/forward_s')).toEqual([0.1, 0.1]);
    expect(metric(records, 'train/memory_bytes')).toEqual([5, 5]);
    // Two updates of 6 steps at 1e-6, the presets' rate for 7B.
    expect(weightsOf(version(2, 'model.safetensors')).weights).toBeCloseTo(12e-6, 12);
    expect(statSync(version(2, 'model.safetensors')).mode & 0o777).toBe(0o644);
    expect(readdirSync(join(cwd, dir)).sort()).toEqual(['.lock', 'latest.json', 'policy.json', 'versions']);
    expect(JSON.parse(readFileSync(join(cwd, dir, 'policy.json'), 'utf8'))).toMatchObject({
      engine: 'torch',
      base: join(cwd, 'checkpoint'),
      lora: null,
    });
    expect(fake.asked().map((request) => request.do)).toEqual(['open', 'step', 'save', 'step', 'save', 'close']);
  });

  it('starts torchrun and tells it what the options say', async () => {
    await train(into('--max-updates', '0', '--lora', '8', '--min-pixels', '100', '--preset', 'dart', '--threads', '3'));
    const { words, env } = fake.launched();
    expect(words.join(' ')).toMatch(
      /^-m torch.distributed.run --standalone --nproc-per-node 2 --max-restarts 0 .*-m dart_torch$/,
    );
    expect(env).toMatchObject({
      OMP_NUM_THREADS: '3',
      HF_HUB_OFFLINE: '1',
      PYTHONPATH: expect.stringMatching(/native\/torch$/),
    });
    expect(asked('open')[0]).toMatchObject({
      checkpoint: join(cwd, 'checkpoint'),
      blobs: join(cwd, 'blobs'),
      objective: { surrogate: 'grpo', clip_high: 0.28, tis_cap: 1, kl_beta: 0.1, aggregation: 'sequence-mean' },
      model: {
        dtype: 'bfloat16',
        lora: { rank: 8, alpha: 32, dropout: 0, targets: 'all-linear' },
        reference: 'lora-off',
        min_pixels: 100,
        micro_tokens: 16384,
      },
      optimizer: { beta1: 0.9, beta2: 0.95, max_grad_norm: 1 },
      kernels: { cpu: expect.stringMatching(/libdart_cpu/) },
    });
    expect(asked('open')[0]!.model).not.toHaveProperty('max_pixels');
    expect(asked('save')).toHaveLength(1);
  });

  it('hands on each step as the policy saw it, tokens where they are known', async () => {
    const group = makeGroup('g', screenshot) as Record<string, unknown>[];
    const step = makeStep(2, { text: 'Action: wait()', token_ids: [7, 8], logprobs: [-0.5, null] }, screenshot);
    step.prompt = { ...step.prompt, token_ids: [1, 2, 3] };
    const more = { history: ['Action: wait()', 'Action: wait()'], screenshots: ['a'.repeat(64)] };
    group[1] = { ...group[1], step, step_index: 2, ...more };
    group[2] = { ...group[2], step: makeStep(0, { text: 'Action: wait()', token_ids: [7, 300] }, screenshot) };
    await train(into('--batch-samples', '3'), { stdin: lines(group as never) });
    const [first, second, third] = asked('step')[0]!.lines!;
    expect(first).toMatchObject({ id: 'g.0:0', reply_ids: null, rollout_logp: null, advantage: 1.1, temperature: 1 });
    expect(first!.where).toBe('stdin:1 (g.0 step 0)');
    expect(second).toMatchObject({ prompt_ids: [1, 2, 3], reply_ids: [7, 8], rollout_logp: [-0.5, null], episode: -1 });
    const image = (sha256: string) => ({ role: 'user', content: [{ type: 'image', sha256 }] });
    const said = { role: 'assistant', content: 'Action: wait()' };
    // A reply whose screen is gone stands alone; then each after its screen, the present one last.
    const messages = second!.messages as { role: string; content: unknown }[];
    expect(messages.slice(2)).toEqual([said, image('a'.repeat(64)), said, image(screenshot)]);
    expect(messages[0]!.content).toContain('pixels of the screenshot as you see it');
    expect(messages[1]!.content).toEqual([{ type: 'text', text: expect.stringMatching(/^Task: /) }]);
    // 300 is not in a vocabulary of 300: the ranks refuse it by the sample's name.
    expect(third!.reply_ids).toEqual([7, 300]);
  });

  it('scores before the steps that need it, once', async () => {
    const without = samples(2).replaceAll(/"entropy":\d/g, '"entropy":null');
    await train(into('--keep-entropy', '0.5', '--batch-samples', '4', '--minibatches', '2'), { stdin: without });
    const steps = asked('step').map(({ on_policy, fresh }) => [on_policy, fresh]);
    expect(fake.asked().map((request) => request.do)).toEqual(
      // Entropies of two groups; what was measured is not scored again.
      ['open', 'score', 'score', 'step', 'step', 'save', 'close'],
    );
    expect(steps).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  it('is skipped over where the loss is not finite', async () => {
    const { code, records } = await train(into(), { stdin: samples(2), fake: 'nonfinite@step' });
    expect(code).toBe(1);
    expect(records.filter((record) => record.event === 'update_skipped')).toHaveLength(1);
    expect(listVersions(join(cwd, dir))).toEqual([0]);
  });

  it('begins with version 0 as links to the checkpoint, without copying it', async () => {
    await train(into('--max-updates', '0'));
    expect(asked('save')).toEqual([]);
    expect(lstatSync(version(0, 'model.safetensors')).isSymbolicLink()).toBe(true);
    expect(readFileSync(version(0, 'model.safetensors'), 'utf8')).toBe('weights of the base');
    expect(readManifest(version(0))?.files['model.safetensors']).toEqual({
      bytes: 19,
      link: join(cwd, 'checkpoint/model.safetensors'),
    });
    expect(JSON.parse(readFileSync(join(cwd, dir, 'latest.json'), 'utf8')).version).toBe(0);
  });

  it('goes on where it stopped, and keeps the state of the newest versions only', async () => {
    const args = into('--batch-groups', '1', '--keep-versions', '3', '--keep-states', '2');
    await train([...args, '--max-updates', '2'], { stdin: samples(6) });
    fake.forget();
    const { err, summary } = await train(args, { stdin: samples(6) });
    expect(err).toContain('going on from version 2: 2 updates, 6 steps so far');
    expect(asked('restore')).toMatchObject([{ folder: version(2) }]);
    expect(summary).toMatchObject({ updates: 6, version: 6, groups: 6 });
    expect(weightsOf(version(6, 'model.safetensors'))).toEqual({ weights: expect.closeTo(18e-6, 12), steps: 6 });
    // Whole versions, also without their state.
    expect(listVersions(join(cwd, dir))).toEqual([4, 5, 6]);
    expect([4, 5, 6].map((number) => existsSync(version(number, 'state')))).toEqual([false, true, true]);
    expect(Object.keys(readManifest(version(4))!.files)).not.toContain('state/.metadata');
  });

  it('starts from version 0 anew, or from adapters that were saved', async () => {
    await train(into('--max-updates', '0'));
    await train(into(), { stdin: samples(2) });
    expect(asked('restore')).toEqual([]);
    dir = `${dir}-lora`;
    await train(into('--max-updates', '0', '--lora', '4'));
    await train(into('--lora', '4'), { stdin: samples(2) });
    expect(asked('restore')).toMatchObject([{ folder: version(0) }]);
    // Ten times the rate of full training.
    expect(asked('step').at(-1)!.lr).toBe(1e-5);
    expect(existsSync(version(1, 'adapter_config.json'))).toBe(true);
  });

  it('goes on without --policy, and starts a new run from a published folder', async () => {
    await train(into(), { stdin: samples(2) });
    const again = ['--publish', dir, '--python', './python', '--nproc', '1', '--blobs', 'blobs', '--max-updates', '1'];
    expect((await train([...again, '--engine', 'torch'])).code).toBe(0);
    fake.forget();
    const next = into('--max-updates', '0', '--policy', `hf:${dir}`, '--publish', `${dir}-next`);
    expect((await train(next)).code).toBe(0);
    expect(asked('open')[0]!.checkpoint).toBe(version(1));
  });

  it('exports a version as a folder without links and state', async () => {
    await train(into(), { stdin: samples(2) });
    const files = ['config.json', 'model.safetensors', 'preprocessor_config.json', 'tokenizer.json'];
    for (const number of [0, 1]) {
      const out = join(cwd, `${dir}-out${number}`);
      expect((await train(['export', dir, '-o', out, '--version-number', String(number)])).code).toBe(0);
      expect(readdirSync(out).sort()).toEqual(files);
      expect(lstatSync(join(out, 'model.safetensors')).isFile()).toBe(true);
    }
    const again = await train(['export', dir, '-o', `${dir}-out0`]);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('there is something of that name already')]);
  });

  it('learns from preferences, each episode written once', async () => {
    const episode = (id: string, reward: number) => ({
      trajectory_id: id,
      reward,
      steps: [makeStep(0, { text: id }, screenshot)],
    });
    const pair = (chosen: string, rejected: string) => ({
      ...{ type: 'preference', v: 1, objective: 'dpo', task_id: 'os/a', domain: 'os', instruction: 'x' },
      ...{ chosen: episode(chosen, 1), rejected: episode(rejected, 0) },
    });
    const { code, err, records } = await train(into('--objective', 'dpo', '--batch-groups', '2'), {
      stdin: lines([pair('good', 'bad'), pair('good', 'worse')] as never),
    });
    expect([code, err]).toEqual([0, expect.anything()]);
    expect(metric(records, 'train/rewards_margins')).toEqual([0.25]);
    expect(asked('open')[0]).toMatchObject({ objective: { dpo: { beta: 0.1 } }, model: { reference: 'copy' } });
    const [step] = asked('step');
    const ids = step!.lines!.map(({ id, episode: number }) => [id, number]);
    const numbers = Object.fromEntries(ids) as Record<string, number>;
    expect(Object.keys(numbers).sort()).toEqual(['bad:0', 'good:0', 'worse:0']);
    expect(step).toMatchObject({ kind: 'dpo', labels: null });
    expect((step!.pairs as number[][]).sort()).toEqual(
      [
        [numbers['good:0'], numbers['bad:0']],
        [numbers['good:0'], numbers['worse:0']],
      ].sort(),
    );
  });

  it('publishes what it has and exits 130 when it is interrupted', async () => {
    const stop = new AbortController();
    const stdin = new PassThrough();
    stdin.write(samples(3));
    const onOut = (text: string) => {
      if (text.includes('train/loss')) stop.abort(new Interrupted('SIGINT'));
    };
    const { code } = await train(into('--publish-every', '0'), { stdin, signal: stop.signal, onOut });
    expect([code, listVersions(join(cwd, dir))]).toEqual([130, [0, 1]]);
    expect(isAlive(fake.launched().pid)).toBe(false);
  });

  it('takes a greeting on stdout for what it is', async () => {
    const { code, err } = await train(into(), {
      stdin: samples(2),
      env: { FAKE_GREETING: 'module loaded\n{"a":1}\n' },
    });
    expect(code).toBe(0);
    expect(err).toContain('not JSON');
    expect(err).toContain('not an answer: {"a":1}');
  });

  it('says what it would do, without loading the model', async () => {
    const { code, records } = await train(into('--dry-run', '--lora', '16'));
    expect(code).toBe(0);
    expect(records[0]).toMatchObject({
      event: 'dry_run',
      settings: {
        learner: { schedule: { lr: 1e-5 } },
        engine: { kind: 'torch', base: join(cwd, 'checkpoint'), model: { lora: { rank: 16 } }, launch: { nproc: '2' } },
      },
    });
    expect([asked('open'), existsSync(join(cwd, dir))]).toEqual([[], false]);
  });
});

describe('dart-train --engine torch says what is wrong:', () => {
  const fails = async (args: string[], around: Surroundings = {}) => {
    const { code, err } = await train(args, around);
    expect(code).toBe(2);
    return err;
  };

  it('a step that cannot be learned from, after publishing what was learned', async () => {
    const err = await fails(into(), { stdin: samples(4), fake: 'sample@step:2' });
    expect(err).toContain('stdin:7 (g2.0 step 0): the screenshot is missing. Try: --blobs DIR');
    expect(listVersions(join(cwd, dir))).toEqual([0, 1]);
  });

  it.each([
    ['fault', 'torch engine, step: rank 1: ValueError: no such layer'],
    ['memory', 'torch engine, step: rank 3: out of memory on the GPU: 79.1 GiB. Try: fewer --micro-tokens'],
    ['module', "rank 0: ModuleNotFoundError: No module named 'flash_attn'. Try: pip install flash_attn"],
    ['lost', 'torch engine, step: rank 1 was ended by SIGKILL; it last said: terminate called. Try: the same command'],
    ['silent', 'torch engine, step: rank 1 was ended by SIGSEGV'],
    ['killed', 'torch engine, step: the ranks ended without an answer (signal SIGKILL)'],
    ['odd', "torch engine, step: the ranks' answer is not what was asked for (applied: "],
  ])('ranks that fail: %s', async (mode, message) => {
    const err = await fails(into(), { stdin: samples(4), fake: `${mode}@step:2` });
    expect(err).toContain(message);
    expect(listVersions(join(cwd, dir))).toEqual([0, 1]);
    expect(isAlive(fake.launched().pid)).toBe(false);
    // The same command goes on.
    expect((await train(into(), { stdin: samples(4) })).summary).toMatchObject({ version: 2, updates: 2 });
  });

  it('a version that was not saved whole, which is not there then', async () => {
    await fails(into(), { stdin: samples(2), fake: 'killed@save' });
    expect(listVersions(join(cwd, dir))).toEqual([0]);
    expect(readdirSync(join(cwd, dir, 'versions'))).toEqual(['000000']);
  });

  it('ranks that do not start in time, and one that was told to stop while they did', async () => {
    const err = await fails(into('--start-timeout', '1'), { fake: 'hang@open' });
    expect(err).toContain('torch engine, open: no answer within 1 s. Try: a longer --start-timeout');
    expect(isAlive(fake.launched().pid)).toBe(false);
    const stop = new AbortController();
    const signal = stop.signal;
    setTimeout(() => stop.abort(new Interrupted('SIGTERM')), 300);
    expect((await train(into(), { fake: 'hang@open', signal })).code).toBe(143);
  });

  it('a Python that is not there or lacks packages, before anything is written', async () => {
    expect(await fails(into('--python', './no-python'))).toContain('no-python: Python does not start: ');
    const err = await fails(into('--lora', '4'), { env: { FAKE_MISSING: 'PIL,peft' } });
    expect(err).toContain(`this Python has no PIL, peft. Try: ${join(cwd, 'python')} -m pip install pillow peft`);
    expect(existsSync(join(cwd, dir))).toBe(false);
  });

  it('a checkpoint that is not whole, before anything is written', async () => {
    const of = (name: string) => into('--policy', `hf:${name}`);
    expect(await fails(of('nowhere'))).toContain('nowhere: there is no such folder. Try: a checkpoint on disk');
    const part = fakeCheckpoint(join(cwd, `${dir}-part`));
    const without = async (name: string, text: string | null) => {
      if (text === null) rmSync(join(part, name));
      else writeFileSync(join(part, name), text);
      return fails(of(`${dir}-part`));
    };
    const index = JSON.stringify({ weight_map: { a: 'model-00001-of-00002.safetensors' } });
    expect(await without('model.safetensors.index.json', index)).toContain('has no model-00001-of-00002.safetensors');
    rmSync(join(part, 'model.safetensors.index.json'));
    expect(await without('preprocessor_config.json', null)).toContain('has no image processor');
    expect(await without('tokenizer.json', null)).toContain('has no tokenizer');
    expect(await without('model.safetensors', null)).toContain('has no model.safetensors');
    expect(await without('config.json', '{')).toContain('config.json: it is not JSON');
    rmSync(join(part, 'config.json'));
    expect(await without('adapter_config.json', '{}')).toContain('these are LoRA adapters, not a checkpoint');
    expect(existsSync(join(cwd, dir))).toBe(false);
  });

  it('a folder of the other engine, or of another policy', async () => {
    await train(into('--max-updates', '0'));
    expect(await fails(['--publish', dir, '--blobs', 'blobs'])).toContain(
      'this folder holds a run of the torch engine (policy.json). Try: --engine torch',
    );
    expect(await fails(into('--lora', '4'))).toContain('the whole model was trained, not LoRA of rank 4, alpha 32');
    fakeCheckpoint(join(cwd, 'other'));
    writeFileSync(join(cwd, 'other', 'model.safetensors'), 'longer weights of another base');
    expect(await fails(into('--policy', 'hf:other'))).toContain(`another policy (of ${join(cwd, 'checkpoint')})`);
    mkdirSync(join(cwd, `${dir}-onnx`));
    writeFileSync(join(cwd, `${dir}-onnx`, 'policy.onnx'), '');
    dir = `${dir}-onnx`;
    expect(await fails(into())).toContain('this folder holds a run of the onnx engine (policy.onnx)');
  });

  it('a state that was pruned', async () => {
    const args = into('--batch-groups', '1', '--keep-states', '1');
    await train(args, { stdin: samples(2) });
    rmSync(version(2), { recursive: true });
    expect(await fails(args, { stdin: samples(3) })).toContain('000001: the version has no optimiser state any more');
  });

  it('options that make no sense', async () => {
    expect(await fails(into('--nnodes', '2'))).toContain('--rdzv-endpoint: several machines need a place to meet');
    expect(await fails(into('--reference', 'lora-off'))).toContain('there are no adapters');
    expect(await fails(into('--reference', 'none', '--kl-beta', '0.1'))).toContain('compares with a reference policy');
    expect(await fails(into('--device', 'cpu'))).toContain('CUDA_VISIBLE_DEVICES');
    expect(await fails(into('--init-from', 'x'))).toContain('--init-from: the torch engine starts with the checkpoint');
    expect(await fails(into('--engine', 'onnx'))).toContain('a Hugging Face checkpoint is not for the onnx engine');
    const onnx = `onnx:${join(import.meta.dirname, '../../fixtures/policies/base.onnx')}`;
    expect(await fails(['--publish', dir, '--policy', onnx, '--lora', '4'])).toContain(
      '--lora: this is an option of the torch engine. Try: --engine torch',
    );
    expect(await fails(['--publish', dir, '--policy', 'onnx:x', '--engine', 'torch'])).toContain('not for the torch');
    expect(await fails(into('--nproc', 'two'))).toContain("--nproc: 'two' is no number of processes");
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
