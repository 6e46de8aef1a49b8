import { describe, expect, it } from 'vitest';
import { parseFlags } from '../../lib/cli/flags.ts';
import { testIo } from '../../lib/cli/io.testing.ts';
import { resolveOptions } from '../../lib/cli/resolve.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { spec as curate } from '../curate/spec.ts';
import { spec as evaluate } from '../eval/spec.ts';
import { spec as rollout } from '../rollout/spec.ts';
import { spec as train } from '../train/spec.ts';
import { ARMS } from './arms.ts';
import { COMPARED, SELECTION } from './arpo/arms.ts';
import { PROTOCOLS } from './arpo/measures.ts';
import { arpoSettingsFrom, offlineLine, onlineTraining } from './arpo/pieces.ts';
import { baseLines } from './base.ts';
import { evaluationLine, SUITES } from './evaluations.ts';
import { trainingPiece } from './job.ts';
import { trainingOf } from './plan.ts';
import { settingsFrom } from './settings.ts';
import { pipelineLine, publishLine, type Training } from './training.ts';

const SPECS: Record<string, CommandSpec> = {
  'dart-rollout': rollout,
  'dart-curate': curate,
  'dart-train': train,
  'dart-eval': evaluate,
};

/** The calls of the toolkit's commands in a line, as words. */
function callsIn(line: string): string[][] {
  const calls = line.split(/\|\n?|;|\n|&&/).flatMap((part) => part.match(/bin\/dart-[^)<>]*/)?.[0] ?? []);
  return calls.map((call) => call.replaceAll('\\', '').trim().split(/\s+/));
}

/** The options of a call, by the command's own table; a subcommand by its. */
async function parsed([program, ...words]: string[]): Promise<(name: string) => unknown> {
  let spec = SPECS[program!.replace('bin/', '')]!;
  while (spec.subcommands?.some(({ name }) => name === words[0])) {
    const name = words.shift();
    spec = spec.subcommands.find((sub) => sub.name === name)!;
  }
  const flags = await parseFlags(spec, words, [program!]);
  const resolved = resolveOptions(spec, flags, [program!], testIo());
  return (name) => resolved.options.get(name)?.value;
}

const settings = settingsFrom({ RUN_DIR: 'RUN' });
const training = (name: string): Training =>
  trainingOf(settings, ARMS.find((arm) => arm.name === name)!, 3, { path: 'base.onnx', sha256: 'f00' });

describe('each arm', () => {
  it.each(ARMS.map((arm) => arm.name))('%s is made of options that the commands have', async (name) => {
    const made = training(name);
    const lines = [...made.before, publishLine(made), pipelineLine(made)];
    const calls = lines.flatMap(callsIn);
    expect(calls.length).toBe(4 + made.before.filter((line) => line.startsWith('bin/')).length);
    for (const call of calls) await parsed(call);
    const [sample, choose, learn] = await Promise.all(callsIn(pipelineLine(made)).map(parsed));
    expect([sample!('seed'), learn!('seed'), sample!('max-steps'), sample!('follow')]).toEqual([3, 3, 30, true]);
    expect([choose!('preset'), learn!('preset'), learn!('lr')]).toEqual(['dart', 'dart', 1e-4]);
    expect(learn!('batch-groups')).toBe(8);
    expect([sample!('store'), choose!('store')]).toEqual([learn!('store'), learn!('store')]);
    expect(sample!('store')).toBe(`sqlite:RUN/${name}/3/dart.db`);
  });

  it('trains for its seconds at least, and to its limit at most', () => {
    const [made, quick] = [training('full'), { ...training('full'), limitSeconds: 100 }];
    const piece = trainingPiece('full', made, () => {});
    expect([piece.atLeast, piece.seconds, trainingPiece('full', quick, () => {}).atLeast]).toEqual([480, 532, 100]);
    const { cuts } = made;
    const counted = { ...made, cuts: cuts.filter(({ seconds }) => seconds === undefined) };
    expect(trainingPiece('full', counted, () => {}).atLeast).toBe(0);
  });

  it('turns off what its rung does not have', async () => {
    const seen = async (name: string) => {
      const [sample, choose, learn] = await Promise.all(callsIn(pipelineLine(training(name))).map(parsed));
      const dynamic = [sample!('dynamic-rollouts'), sample!('dynamic-length')];
      return [...dynamic, learn!('keep-entropy'), learn!('no-tis'), choose!('no-pool')];
    };
    expect(await seen('baseline')).toEqual([false, false, 1, true, true]);
    expect(await seen('length')).toEqual([true, true, 1, true, true]);
    expect(await seen('full')).toEqual([true, true, undefined, undefined, undefined]);
    expect(await seen('stale-no-tis')).toEqual([true, true, undefined, true, undefined]);
  });
});

describe('each arm of ARPO’s comparison', () => {
  const arpo = arpoSettingsFrom({ RUN_DIR: 'RUN' });
  const base = { path: 'base.onnx', sha256: 'f00' };

  it.each([...COMPARED, ...SELECTION].map((arm) => arm.name))(
    '%s is made of options that the commands have',
    async (name) => {
      const arm = [...COMPARED, ...SELECTION].find((each) => each.name === name)!;
      if (arm.kind === 'none') return expect(arm.train).toEqual([]);
      const where = { dir: `RUN/${name}/2`, seed: 2, base };
      const line =
        arm.kind === 'online'
          ? pipelineLine(onlineTraining(arpo, arm, { ...where, tasks: 'tasks.ndjson' }))
          : offlineLine(arpo, arm, where);
      const options = await Promise.all(callsIn(line).map(parsed));
      expect(options.length).toBe(arm.kind === 'online' ? 3 : 2);
      expect(options.at(-1)!('seed')).toBe(2);
      if (arm.kind === 'online') expect(options[0]!('max-steps')).toBe(15);
      if (arm.kind === 'online') expect(options[1]!('no-pool') ?? false).toBe(name === 'grpo');
    },
  );

  it('is measured under both protocols, by options that dart-eval has', async () => {
    for (const more of Object.values(PROTOCOLS)) {
      const line = evaluationLine({ policy: 'p', tasks: 't', repeats: 8, seed: 2, output: 'o', more });
      const option = await parsed(callsIn(line)[0]!);
      expect(option('max-steps')).toBe(15);
      expect(option('fail-at-limit') ?? false).toBe(option('protocol') === 'verified');
    }
  });
});

describe('the split', () => {
  it('is by file: nothing before the evaluations sees a held-out task', () => {
    expect(SUITES).toEqual({ train: 'fixtures/tasks/embedded', heldout: 'fixtures/tasks/heldout' });
    for (const { name } of ARMS) {
      const made = training(name);
      const lines = [...made.before, publishLine(made), pipelineLine(made)].join('\n');
      expect(lines).toContain('--tasks fixtures/tasks/embedded');
      expect(lines).not.toContain('heldout');
    }
    expect(Object.values(baseLines('RUN', 'base.onnx')).flat().join('\n')).not.toContain('heldout');
  });

  it('holds for the base policy, whose lines are made of options that the commands have', async () => {
    const calls = Object.values(baseLines('RUN', 'base.onnx')).flat().flatMap(callsIn);
    expect(calls.map(([program]) => program!.replace('bin/dart-', '')).join(' ')).toBe(
      'train rollout rollout rollout rollout rollout rollout rollout rollout rollout rollout rollout rollout train train train rollout curate train train rollout train train',
    );
    for (const call of calls) await parsed(call);
    const taught = await parsed(calls[1]!);
    expect([taught('policy'), taught('rollouts'), taught('max-steps')]).toEqual(['script:noise=0.05', 100, 12]);
  });
});

describe('an evaluation', () => {
  it('is made of options that dart-eval has', async () => {
    const line = evaluationLine({ policy: 'p', tasks: 't', repeats: 8, seed: 2, output: 'o', sample: 4 });
    const option = await parsed(callsIn(line)[0]!);
    expect([option('repeats'), option('seed'), option('max-steps'), option('sample')]).toEqual([8, 2, 30, 4]);
  });
});

describe('the settings', () => {
  it('come from the environment, and say what makes no sense', () => {
    expect(settingsFrom({ SEEDS: '2', TRAIN_SECONDS: '60', ARMS: 'full,baseline' })).toMatchObject({
      ...{ seeds: 2, seconds: 60, trajectories: 900, limitSeconds: 66 },
      arms: [{ name: 'baseline' }, { name: 'full' }],
    });
    expect(() => settingsFrom({ SEEDS: '0' })).toThrow('expected a number above 0, not 0');
    expect(() => settingsFrom({ SEEDS: '1.5' })).toThrow('expected a whole number');
    expect(() => settingsFrom({ ARMS: 'ful' })).toThrow('there is no arm ful');
    expect(() => settingsFrom({ ARMS: ',' })).toThrow("names none in ','");
    expect(() => arpoSettingsFrom({ ARMS: ' ' })).toThrow("names none in ' '");
  });
});
