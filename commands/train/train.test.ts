import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { testIo } from '../../lib/cli/io.testing.ts';
import { runCommand } from '../../lib/cli/run.ts';
import { Interrupted } from '../../lib/cli/stop.ts';
import { DartError } from '../../lib/errors.ts';
import { readOnnx } from '../../lib/graph/read.ts';
import { writeOnnx } from '../../lib/graph/write.ts';
import { openStore } from '../../lib/store/index.ts';
import { makeStep, makeTrajectory } from '../../lib/stream/records.testing.ts';
import { lockFolder } from '../../lib/training/folder.ts';
import { deviceStatus } from '../../native/index.ts';
import { greyScreen, groupLines, lines, makeGroup, REPLIES, scoredLines } from './fixture.testing.ts';
import { spec } from './spec.ts';

let cwd = '';
let screenshot = '';
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'dart-train-'));
  expect((await train(['init', '-o', 'init.onnx', '--seed', '1', '--reading-steps', '2', '--quiet'])).code).toBe(0);
  screenshot = greyScreen(join(cwd, 'blobs'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

let serial = 0;
let dir = '';
beforeEach(() => {
  serial += 1;
  dir = `policy${serial}`;
});

async function train(args: string[], stdin: string | Readable = '') {
  const io = testIo({ cwd, stdin });
  const code = await runCommand(spec, args, io);
  return { code, records: io.records(), err: io.err(), summary: io.records().at(-1) };
}

/** The options that most runs here share. */
const into = (...more: string[]) => ['--publish', dir, '--policy', 'onnx:init.onnx', '--blobs', 'blobs', ...more];
const fast = ['--preset', 'grpo', '--batch-samples', '6', '--quiet'];
const samples = (groups: number) => scoredLines(groups, screenshot);
const group = (id: string) => makeGroup(id, screenshot);
const published = (folder: string, version: number, name = 'weights.safetensors') =>
  readFileSync(join(cwd, folder, 'versions', String(version).padStart(6, '0'), name));

describe('dart-train', () => {
  it('learns from samples on stdin: metrics, checkpoints, a summary', async () => {
    const { code, records, summary, err } = await train(into(...fast), groupLines(4, screenshot));
    expect(code).toBe(0);
    expect(err.match(/^dart-train: warning: .*$/gm)).toEqual([
      expect.stringContaining('6 of 6 steps, the first stdin:1 (g0.0 step 0), where its token_ids are no reply'),
    ]);
    expect(records.filter((r) => r.type === 'checkpoint').map((r) => r.version)).toEqual([0, 1, 2]);
    expect(records.filter((r) => r.name === 'train/tokenised_steps').map((r) => r.value)).toEqual([6, 6]);
    expect(summary).toMatchObject({ type: 'summary', command: 'dart-train', version: 2, samples: 12, groups: 4 });
  });

  it('ends at the same bytes when it is stopped and started again', async () => {
    writeFileSync(join(cwd, 'samples.ndjson'), samples(6));
    const args = (folder: string, ...more: string[]) => [
      'samples.ndjson',
      '--policy',
      'onnx:init.onnx',
      '--blobs',
      'blobs',
      '--publish',
      folder,
      ...fast,
      ...more,
    ];
    await train(args('whole', '--run-id', 'r'));
    await train(args('halves', '--run-id', 'r', '--max-updates', '1'));
    const { summary } = await train(args('halves', '--run-id', 'r'));
    expect(summary).toMatchObject({ updates: 3, groups: 6 });
    for (const name of ['weights.safetensors', 'optimizer.safetensors', 'state.json', 'manifest.json']) {
      expect(published('halves', 3, name).equals(published('whole', 3, name))).toBe(true);
    }
  });

  it('goes on without --policy where the folder has one', async () => {
    await train(into(...fast, '--max-updates', '0'));
    const { code, summary } = await train(['--publish', dir, '--blobs', 'blobs', ...fast], samples(2));
    expect([code, summary?.version]).toEqual([0, 1]);
  });

  it('goes on when --policy is the folder itself, under whichever name', async () => {
    await train(into(...fast), samples(2));
    symlinkSync(join(cwd, dir), join(cwd, `${dir}-link`));
    for (const [name, groups, version] of [
      [dir, 4, 2],
      [`${dir}-link`, 6, 3],
    ] as const) {
      const { code, err, summary } = await train(
        ['--publish', dir, '--blobs', 'blobs', ...fast, '--policy', `onnx:./${name}/`],
        samples(groups),
      );
      expect([code, err, summary?.version]).toEqual([0, '', version]);
    }
  });

  it('tells the store what was learned', async () => {
    const url = `sqlite:${dir}.db`;
    await train(into(...fast, '--store', url, '--run-id', 'r'), samples(2));
    const store = await openStore(`sqlite:${join(cwd, `${dir}.db`)}`);
    expect(await store.latestVersion('r')).toMatchObject({ version: 1, path: join(cwd, dir, 'versions/000001') });
    await store.close();
  });

  it('learns nothing from a group that the store has closed as stale', async () => {
    const url = `sqlite:${dir}.db`;
    const store = await openStore(`sqlite:${join(cwd, `${dir}.db`)}`);
    const planned = (group_id: string) => ({ group_id, run_id: 'r', task_id: 'os/a', size: 3 });
    await store.planGroups(['a', 'b'].map(planned));
    const one = ['--preset', 'grpo', '--quiet', '--batch-groups', '1', '--store', url, '--run-id', 'r'];
    await train(into(...one), lines(group('b')));
    await store.acknowledge(['a'], { reason: 'stale' });
    const { code, records, summary } = await train(into(...one, '--max-updates', '3'), lines(group('a')));
    expect([code, summary?.version, summary?.groups_skipped, summary?.skipped_reasons]).toEqual([
      0,
      1,
      1,
      { stale: 1 },
    ]);
    expect(records.filter((r) => r.event === 'group_skipped').map((r) => r.group_id)).toEqual(['a']);
    const columns = ['group_id', 'reason', 'learned_version'] as const;
    expect(await store.db.selectFrom('training_group').select(columns).orderBy('group_id').execute()).toEqual([
      { group_id: 'a', reason: 'stale', learned_version: null },
      { group_id: 'b', reason: null, learned_version: 1 },
    ]);
    await store.close();
  });

  it('imitates, exports, and starts from what was exported or published', async () => {
    const demos = lines([makeTrajectory(REPLIES.map((text, i) => makeStep(i, { text }, screenshot)))]);
    const sft = ['--objective', 'sft', '--epochs', '12', '--batch-samples', '3', '--quiet'];
    const { records } = await train(into(...sft), demos);
    const losses = records.filter((r) => r.name === 'train/loss').map((r) => r.value as number);
    expect(losses).toHaveLength(12);
    expect(losses.at(-1)).toBeLessThan(losses[0]! / 2);
    expect((await train(['export', dir, '-o', 'out.onnx', '--quiet'])).code).toBe(0);
    for (const start of [['onnx:out.onnx'], [`onnx:${dir}`], ['onnx:init.onnx', '--init-from', dir]]) {
      const next = `${dir}-${start[0]!.slice(5, 8)}${start.length}`;
      await train(['--publish', next, '--policy', ...start, '--max-updates', '0', '--quiet']);
      expect(tensorsOf(published(next, 0)).equals(tensorsOf(published(dir, 12)))).toBe(true);
    }
  });

  it('makes the same fresh network from the same seed', async () => {
    await train(['init', '-o', 'again.onnx', '--seed', '1', '--reading-steps', '2', '--quiet']);
    await train(['init', '-o', 'other.onnx', '--seed', '2', '--reading-steps', '2', '--quiet']);
    const first = readFileSync(join(cwd, 'init.onnx'));
    expect(readFileSync(join(cwd, 'again.onnx')).equals(first)).toBe(true);
    expect(readFileSync(join(cwd, 'other.onnx')).equals(first)).toBe(false);
  });

  it('publishes what it has and exits 130 when it is interrupted', async () => {
    const stop = new AbortController();
    const stdin = new PassThrough();
    stdin.write(samples(3));
    const io = testIo({ cwd, stdin, signal: stop.signal });
    io.stdout.on('data', (chunk) => {
      if (String(chunk).includes('train/loss')) stop.abort(new Interrupted('SIGINT'));
    });
    expect(await runCommand(spec, into(...fast, '--publish-every', '0'), io)).toBe(130);
    expect(published(dir, 1).length).toBeGreaterThan(0);
  });

  it('ends at --max-seconds although its input goes on', async () => {
    const stdin = new PassThrough();
    const { code, summary } = await train(into(...fast, '--max-seconds', '0.1'), stdin);
    expect([code, summary?.stopped]).toEqual([0, 'max-seconds']);
    expect(stdin.destroyed).toBe(true);
  });

  it('ends quietly, and publishes, when nobody reads its records', async () => {
    const io = testIo({ cwd, stdin: samples(2) });
    io.stdout.destroy();
    expect(await runCommand(spec, into(...fast), io)).toBe(0);
    expect(io.err()).toBe('');
    expect(published(dir, 0).length).toBeGreaterThan(0);
  });

  it('says what it would do', async () => {
    const { records } = await train(into('--dry-run', '--preset', 'arpo', '--kl-beta', '0.05'));
    expect(records[0]).toMatchObject({
      event: 'dry_run',
      settings: {
        objective: { policy: { dualClip: 3, klBeta: 0.05, tisCap: null } },
        learner: { schedule: { lr: 2e-4 } },
      },
    });
  });
});

/** What follows the header: versions differ in their metadata. */
function tensorsOf(file: Buffer): Buffer {
  return file.subarray(8 + Number(file.readBigUInt64LE(0)));
}

describe('dart-train, ended by an error,', () => {
  /** A group whose gradient is not finite. */
  const broken = (id: string) => group(id).map((record) => ({ ...record, advantage: 1e39 }));

  it('tells of every update that was skipped, and sums up', async () => {
    const input = lines([...group('good'), ...broken('a'), ...broken('b'), ...broken('c')]);
    const one = ['--preset', 'grpo', '--batch-groups', '1', '--quiet', '--max-bad-updates', '3'];
    const { code, records, err, summary } = await train(into(...one, '-o', `${dir}.ndjson`), input);
    expect([code, records]).toEqual([2, []]);
    expect(err).toContain('update 2: the loss or its gradient was not finite in 3 updates in a row');
    const written = readFileSync(join(cwd, `${dir}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n');
    const told = written.map((line) => JSON.parse(line));
    expect(told.filter((r) => r.event === 'update_skipped').map((r) => r.after_update)).toEqual([1, 1, 1]);
    expect(told.at(-1)).toMatchObject({
      ...{ type: 'summary', stopped: 'max-bad-updates', version: 1, updates: 1, updates_skipped: 3, groups_held: 0 },
      error: expect.stringContaining('not finite in 3 updates in a row'),
    });
    expect(summary).toBeUndefined();
  });

  it('sums up what it learned until a line could not be read, or a screenshot was not there', async () => {
    const lost = lines(group('g').map((r) => ({ ...r, step: makeStep(0, { text: REPLIES[0] }, 'b'.repeat(64)) })));
    const one = ['--preset', 'grpo', '--batch-groups', '1', '--quiet'];
    for (const [i, bad] of ['{"type":"sample"', lost].entries()) {
      const place = ['--publish', `${dir}-${i}`, ...into().slice(2)];
      const { code, summary, err } = await train([...place, ...one], `${samples(2)}${bad}`);
      expect([code, summary?.type, summary?.stopped, summary?.updates, summary?.version]).toEqual([
        ...[2, 'summary', 'error', 2, 2],
      ]);
      expect(err.replace(/^dart-train: warning: tokens could not be scored .*\n/, '')).toBe(
        `dart-train: ${summary?.error}\n`,
      );
      expect(summary?.run_id).toContain(`${dir}-${i}`);
    }
  });

  it('sums up imitation as well, and a run that never began', async () => {
    const shown = (screen: string) => lines([makeTrajectory(REPLIES.map((text, i) => makeStep(i, { text }, screen)))]);
    const sft = (...more: string[]) => into('--objective', 'sft', '--epochs', '2', '--quiet', ...more);
    const lost = await train(sft(), shown('b'.repeat(64)));
    expect([lost.code, lost.summary?.stopped, lost.summary?.version, lost.summary?.demonstrated_steps]).toEqual([
      ...[2, 'error', 0, 3],
    ]);
    const torn = await train(sft('-o', 'torn.ndjson'), '{"type":');
    expect([torn.code, torn.err, existsSync(join(cwd, 'torn.ndjson'))]).toEqual([2, expect.any(String), false]);
    const nothing = await train(sft());
    expect([nothing.code, nothing.records]).toEqual([
      1,
      [expect.objectContaining({ stopped: 'end-of-input', version: 0, error: expect.stringContaining('to imitate') })],
    ]);
  });
});

describe('dart-train -o', () => {
  const one = ['--preset', 'grpo', '--batch-groups', '1', '--quiet'];
  const written = (name: string) =>
    readFileSync(join(cwd, name), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  const told = (name: string) =>
    written(name)
      .filter((r) => r.type !== 'metric' || r.name === 'train/loss')
      .map((r) => [r.type, r.update ?? r.version]);

  it('keeps the records of a run that goes on, and leaves out those of lost updates', async () => {
    const file = `${dir}.ndjson`;
    await train(into(...one, '-o', file), samples(2));
    const first = [
      ['checkpoint', 0],
      ['metric', 1],
      ['checkpoint', 1],
      ['metric', 2],
      ['checkpoint', 2],
      ['summary', 2],
    ];
    expect(told(file)).toEqual(first);
    const whole = readFileSync(join(cwd, file), 'utf8');
    // What a process that was killed right after update 3 had written with >>, and a record of another command.
    const lost = lines([
      { type: 'metric', v: 1, name: 'train/loss', value: 9, update: 3 },
      { type: 'metric', v: 1, name: 'rollout/errors', value: 1, update: 7 },
    ]);
    writeFileSync(join(cwd, file), `${whole}${lost}{"type":"met`);
    const { code, err } = await train(into(...one, '-o', file), samples(3));
    expect([code, err]).toEqual([0, '']);
    expect(told(file)).toEqual([...first, ['metric', 3], ['checkpoint', 3], ['summary', 3]]);
    expect(readFileSync(join(cwd, file), 'utf8').startsWith(`${whole}${lost.split('\n')[1]}\n{"type"`)).toBe(true);
    expect(written(file).filter((r) => r.name === 'train/loss' && r.value === 9)).toEqual([]);
    expect(written(file).filter((r) => r.name === 'rollout/errors')).toHaveLength(1);
  });

  it('leaves the file as it was where the run cannot go on', async () => {
    const file = `${dir}.ndjson`;
    await train(into(...one, '-o', file), samples(1));
    const whole = readFileSync(join(cwd, file));
    const { code, err } = await train(into(...one, '-o', file, '--run-id', 'other'), samples(2));
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(
        `^dart-train: ${file}: the file holds the records of run '${dir}-\\w+', and 'other' goes on. Try: another file`,
      ),
    ]);
    expect(readFileSync(join(cwd, file)).equals(whole)).toBe(true);
  });

  it('says which records are not in the file', async () => {
    const file = `${dir}.ndjson`;
    await train(into(...one, '-o', file), samples(1));
    await train(into(...one), samples(3));
    const { code, err } = await train(into(...one, '-o', file), samples(4));
    expect([code, err]).toEqual([
      0,
      `dart-train: warning: ${file} lacks what this run reported of updates 2-3; it goes on from version 3. Try: >> ${file} in place of -o\n`,
    ]);
    expect(told(file).slice(-3)).toEqual([
      ['metric', 4],
      ['checkpoint', 4],
      ['summary', 4],
    ]);
  });

  it('replaces what was there where a run begins, and what is of no trainer', async () => {
    const file = `${dir}.ndjson`;
    writeFileSync(join(cwd, file), lines([{ type: 'metric', v: 1, name: 'train/loss', value: 9, update: 1 }]));
    await train(into(...one, '-o', file), samples(1));
    expect(told(file)).toEqual([
      ['checkpoint', 0],
      ['metric', 1],
      ['checkpoint', 1],
      ['summary', 1],
    ]);
    writeFileSync(join(cwd, file), 'words\n{"type":"task","v":1}\n');
    await train(into(...one, '-o', file), samples(2));
    expect(told(file)).toEqual([
      ['metric', 2],
      ['checkpoint', 2],
      ['summary', 2],
    ]);
  });
});

describe('dart-train --device', () => {
  it('says once what computes what, and takes the choice from DART_DEVICE too', async () => {
    const loud = ['--preset', 'grpo', '--batch-samples', '6'];
    const { code, err } = await train(into(...loud, '--device', 'cpu', '--threads', '2'), samples(2));
    expect(code).toBe(0);
    expect(err.match(/kernels on .*/g)).toEqual([
      expect.stringMatching(/^kernels on the CPU.*; network on the CPU with 2 threads$/),
    ]);
    expect(err).not.toContain('GPU');
    const io = testIo({ cwd, env: { DART_DEVICE: 'cpu' } });
    expect(await runCommand(spec, into('--print-config'), io)).toBe(0);
    expect(io.records()[0]).toMatchObject({
      options: { device: { value: 'cpu', origin: 'environment' }, threads: { value: 1, origin: 'default' } },
    });
  });

  it('of auto is the first GPU, or the CPU with the reason', async () => {
    const { records, err } = await train(into('--dry-run'));
    const { device, text } = deviceStatus();
    expect(records[0]).toMatchObject({ settings: { engine: { device: device === 'cuda' ? 'cuda:0' : 'cpu' } } });
    expect(err).toBe('');
    const run = await train(into('--preset', 'grpo', '--max-updates', '0'));
    expect(run.err).toContain(`dart-train: ${text}; network on the CPU with 1 thread`);
  });

  it('that is not there, or is no device, is told before anything is written', async () => {
    for (const [name, message] of [
      ['cuda:999', /device cuda:999: no GPU for the kernels: \S.*Try: --device cpu/],
      ['gpu', /there is no device 'gpu'. Try: auto, cpu, cuda or cuda:N/],
    ] as const) {
      const { code, err } = await train(into(...fast, '--device', name), samples(1));
      expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    }
    expect(existsSync(join(cwd, dir))).toBe(false);
  });
});

describe('dart-train says what is wrong:', () => {
  const fails = async (args: string[], stdin = '') => {
    const { code, err } = await train(args, stdin);
    expect(code).toBe(2);
    return err;
  };

  it('a broken line, with its place', async () => {
    expect(await fails(into(...fast), `${samples(1)}{"type":"sample"`)).toContain('stdin:4: ');
    const wrong = lines([{ ...group('g')[0]!, advantage: 'much' }]);
    expect(await fails(into(...fast), wrong)).toMatch(/stdin:1: not a valid sample: advantage: .*number/);
  });

  it('a broken line that is skipped, in the count', async () => {
    const wrong = lines([{ ...group('g')[0]!, advantage: 'much' }]);
    const { code, summary, err } = await train(into(...fast, '--on-error', 'skip'), `nonsense\n${wrong}${samples(2)}`);
    expect([code, summary?.records_skipped, summary?.updates]).toEqual([2, 2, 1]);
    expect(err).toContain('left out: stdin:2');
  });

  it('a missing policy file, and no policy at all', async () => {
    expect(await fails(['--publish', dir, '--policy', 'onnx:none.onnx'])).toContain('none.onnx: cannot read');
    expect(await fails(['--publish', dir])).toContain('--policy onnx:FILE');
    expect(await fails(['--publish', dir, '--policy', 'onnx:none.onnx', '--dry-run'])).toContain(
      'none.onnx: cannot read',
    );
    expect(await fails(['--publish', `${dir}-new`, '--dry-run'])).toContain('there is no policy to start from');
  });

  it('a policy of no kind, with the kind that it probably is, whichever the engine', async () => {
    const bare = ['--publish', dir, '--dry-run', '--policy'];
    const said = "--policy: 'init.onnx' does not say which kind of policy it is. Try: --policy onnx:init.onnx";
    expect(await fails([...bare, 'init.onnx'])).toContain(said);
    expect(await fails([...bare, 'none.onnx'])).toContain('kind of policy it is. Try: onnx:FILE, or hf:DIR');
    mkdirSync(join(cwd, 'model'), { recursive: true });
    writeFileSync(join(cwd, 'model/config.json'), '{}');
    for (const more of [[], ['--engine', 'torch']])
      expect(await fails([...bare, 'model', ...more])).toContain('Try: --policy hf:model');
  });

  it('weights that are an ONNX file, or none at all', async () => {
    const from = (file: string) => fails(into('--dry-run', '--init-from', file));
    const onnx = join(cwd, 'init.onnx');
    expect(await from('init.onnx')).toContain(
      `${onnx}: this is an ONNX file, not weights in safetensors. Try: --policy onnx:${onnx} without --init-from`,
    );
    writeFileSync(join(cwd, 'words.txt'), 'these are no weights');
    expect(await from('words.txt')).toContain('Try: a .safetensors file, or a folder that dart-train published into');
  });

  it('an input file that is not there, before the first update', async () => {
    writeFileSync(join(cwd, 'there.ndjson'), samples(4));
    expect(await fails(['there.ndjson', 'nofile.ndjson', ...into(...fast)])).toContain('nofile.ndjson: cannot read');
    expect(existsSync(join(cwd, dir))).toBe(false);
  });

  it('an operator that cannot be differentiated, by name', async () => {
    const graph = readOnnx(readFileSync(join(cwd, 'init.onnx')), 'x');
    graph.nodes.at(-1)!.op = 'Frobnicate';
    writeFileSync(join(cwd, 'odd.onnx'), writeOnnx(graph));
    const err = await fails(['--publish', `${dir}/policy`, '--policy', 'onnx:odd.onnx']);
    expect(err).toContain(`${join(cwd, 'odd.onnx')}: node '`);
    expect(err).toContain('Frobnicate');
    expect(existsSync(join(cwd, dir, 'policy'))).toBe(false);
  });

  it('a screenshot that is not there, by sample and file', async () => {
    const lost = group('g').map((r) => ({ ...r, step: makeStep(0, { text: REPLIES[0] }, 'b'.repeat(64)) }));
    const err = await fails(into('--preset', 'grpo', '--batch-samples', '3'), lines(lost));
    expect(err).toContain('stdin:1 (g.0 step 0)');
    expect(err).toContain(`blobs/bb/${'b'.repeat(62)}.png`);
  });

  it('a folder that it cannot publish into, before anything else', async () => {
    writeFileSync(join(cwd, `${dir}-file`), '');
    expect(await fails(into('--publish', `${dir}-file/x`).slice(2))).toContain(
      `${dir}-file: cannot make the folder: there is a file of that name`,
    );
    expect(await fails([])).toContain('--publish DIR');
  });

  it('a folder of another policy, and one that another trainer holds (75)', async () => {
    await train(into(...fast, '--max-updates', '0'));
    await train(['init', '-o', 'second.onnx', '--seed', '9', '--reading-steps', '2', '--quiet']);
    expect(await fails(['--publish', dir, '--policy', 'onnx:second.onnx'])).toContain('another policy');
    const unlock = lockFolder(join(cwd, dir));
    const { code, err } = await train(into(...fast));
    unlock();
    const holder = `another dart-train publishes into this folder: process ${process.pid} on `;
    expect([code, err]).toEqual([75, expect.stringContaining(holder)]);
  });

  it('a full disk', async () => {
    expect(await fails(into(...fast, '-o', '/dev/full'), samples(2))).toContain(
      '/dev/full: cannot write: the disk is full',
    );
    const stop = new AbortController();
    const io = testIo({ cwd, stdin: samples(2), signal: stop.signal });
    stop.abort(new DartError('cannot write: the disk is full', { where: 'stdout' }));
    expect(await runCommand(spec, into(...fast), io)).toBe(2);
    expect(io.err()).toContain('stdout: cannot write: the disk is full');
  });

  it('options that make no sense', async () => {
    expect(await fails(into('--no-tis', '--tis-cap', '2'))).toContain('exclude each other');
    expect(await fails(into('--betas', '0.9'))).toContain('--betas');
    expect(await fails(into('--lr-schedule', 'cosine'))).toContain('--lr-total-updates');
    expect(await fails(into('--keep-entropy', '0'))).toContain('--keep-entropy');
  });

  it('nothing learned: exit 1', async () => {
    mkdirSync(join(cwd, dir));
    expect((await train(into(...fast), samples(0))).code).toBe(1);
  });

  it('a version that is not there', async () => {
    await train(into(...fast, '--max-updates', '0'));
    expect(await fails(['export', dir, '-o', 'x.onnx', '--version-number', '7'])).toContain('one of 0');
    await train(into(...fast), samples(2));
    writeFileSync(join(cwd, dir, 'versions/000001/weights.safetensors'), 'half');
    expect(await fails(['export', dir, '-o', 'x.onnx', '--version-number', '1'])).toContain('version 1 is damaged: ');
    const { code, err } = await train(['export', dir, '-o', 'x.onnx', '--quiet']);
    expect([code, err]).toEqual([0, expect.stringContaining('version 0 is used in its place')]);
    expect(await fails(['export', 'blobs', '-o', 'x.onnx'])).toContain('no version was published');
  });

  it('a publish folder whose policy file is cut short: export, a run that goes on, and one that begins from it', async () => {
    await train(into(...fast), samples(2));
    const file = join(cwd, dir, 'policy.onnx');
    truncateSync(file, 1000);
    const wanted = `${file}: the file is not as it was written: its sha256 is not that of the policy that the run began with`;
    expect(await fails(['export', dir, '-o', 'x.onnx'])).toContain(wanted);
    expect(await fails(['--publish', 'next', '--policy', `onnx:${dir}`, ...fast], samples(2))).toContain(wanted);
    expect(await fails(['--publish', dir, ...fast], samples(2))).toContain(wanted);
    expect(await fails(into(...fast), samples(2))).toContain(`${wanted}. Try: remove it; dart-train with the --policy`);
    rmSync(file);
    expect((await train(into(...fast), samples(4))).summary).toMatchObject({ version: 2, updates: 2 });
  });
});
