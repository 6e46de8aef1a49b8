import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shared } from '../stream/shared.testing.ts';
import type { Batch, Episode } from './engine.ts';
import { frames, LOCAL, makeExample } from './learner.testing.ts';
import { LinearModel } from './linear.testing.ts';
import { LocalEngine, type LocalSettings } from './local_engine.ts';
import { mismatchedEpisodes, preferenceLoss } from './preference_loss.ts';
import type { Objective } from './presets.ts';

const { exp, log } = Math;
/** Replies on black screens. */
const episode = (...replies: number[][]): Episode => replies.map((tokens) => makeExample(tokens));
const DPO: Objective = { kind: 'dpo', beta: 0.5 };
const KTO: Objective = { kind: 'kto', beta: 0.5, desirableWeight: 1, undesirableWeight: 2 };
const pairOf = (chosen: Episode, rejected: Episode): Batch => ({ kind: 'dpo', units: [{ chosen, rejected }] });
const labelled = (...episodes: [Episode, boolean][]): Batch => ({
  kind: 'kto',
  units: episodes.map(([episode, label]) => ({ episode, label })),
});

/** An engine of a linear model over four tokens; the reference is uniform, the policy as the weights say. */
function makeEngine(
  objective: Objective,
  weights: { bias?: number[]; red?: number[] } = {},
  settings: Partial<LocalSettings> = {},
) {
  const [model, reference] = [new LinearModel(4), new LinearModel(4)];
  model.setWeights(new Map(Object.entries(weights).map(([name, values]) => [name, Float32Array.from(values)])));
  const engine = new LocalEngine(model, { ...LOCAL, objective, ...settings }, { frames, reference });
  const step = (batch: Batch, lr = 0.1) => engine.step(batch, { lr, onPolicy: true });
  return { engine, model, step, gradient: (count = 4) => [...engine.parameters.gradient.subarray(0, count)] };
}

function expectClose(got: readonly number[], wanted: readonly number[]) {
  expect(got).toHaveLength(wanted.length);
  got.forEach((value, i) => {
    expect(value).toBeCloseTo(wanted[i]!, 6);
  });
}

describe('dpo', () => {
  it('starts at ln 2 and pulls the sides apart by β/2', async () => {
    const { step, gradient } = makeEngine(DPO);
    const { loss, applied, more } = await step(pairOf(episode([0]), episode([1])));
    expect([applied, loss]).toEqual([true, expect.closeTo(log(2), 12)]);
    // β/2 = 1/4 up for token 0, down for token 1: 1/4 · (−[j = 0] + [j = 1]); the shares p_j of both sides cancel.
    expectClose(gradient(), [-0.25, 0.25, 0, 0]);
    expect(more).toEqual({
      'train/rewards_chosen': 0,
      'train/rewards_rejected': 0,
      'train/rewards_margins': 0,
      'train/rewards_accuracies': 0,
    });
  });

  it('takes the sum over all tokens of all steps, and the mean over pairs', async () => {
    const { step, gradient } = makeEngine(DPO, { bias: [1, 0, 0, 0] });
    const p = [exp(1), 1, 1, 1].map((weight) => weight / (exp(1) + 3));
    const over = [0, 1].map((token) => log(p[token]!) - log(1 / 4)); // ln p − ln f of token 0, of the others
    const units = [
      { chosen: episode([0, 2], [0]), rejected: episode([1]) },
      { chosen: episode([3]), rejected: episode([0, 0]) },
    ];
    const { loss, more } = await step({ kind: 'dpo', units });
    const chosen = [2 * over[0]! + over[1]!, over[1]!].map((sum) => 0.5 * sum);
    const rejected = [over[1]!, 2 * over[0]!].map((sum) => 0.5 * sum);
    const margins = chosen.map((reward, i) => reward - rejected[i]!);
    expect(loss).toBeCloseTo((log(1 + exp(-margins[0]!)) + log(1 + exp(-margins[1]!))) / 2, 6);
    expect(more!['train/rewards_chosen']).toBeCloseTo((chosen[0]! + chosen[1]!) / 2, 6);
    expect(more!['train/rewards_rejected']).toBeCloseTo((rejected[0]! + rejected[1]!) / 2, 6);
    expect(more!['train/rewards_margins']).toBeCloseTo((margins[0]! + margins[1]!) / 2, 6);
    expect(more!['train/rewards_accuracies']).toBe(0.5);
    // d loss / d sum of a chosen side is −β σ(−margin) / 2; each of its tokens then gives [j = token] − p_j.
    const slopes = margins.map((margin) => -0.5 / (1 + exp(margin)) / 2);
    const counts = [
      [2, -1, 1, 0, 3 - 1],
      [-2, 0, 0, 1, 1 - 2],
    ];
    const wanted = p.map((share, j) =>
      slopes.reduce((sum, slope, pair) => sum + slope * (counts[pair]![j]! - counts[pair]![4]! * share), 0),
    );
    expectClose(gradient(), wanted);
  });

  it('makes the chosen more likely, the rejected less, and the loss smaller with each update', async () => {
    const { step, model } = makeEngine(DPO);
    const losses: number[] = [];
    const batch = pairOf(episode([0], [0, 3]), episode([1], [1, 3]));
    for (let i = 0; i < 20; i++) losses.push((await step(batch)).loss);
    expect(losses.every((loss, i) => i === 0 || loss < losses[i - 1]!)).toBe(true);
    expect(losses.at(-1)).toBeLessThan(log(2) / 2);
    const bias = model.weights.get('bias')!.data;
    expect([bias[0]! > 0, bias[1]! < 0]).toEqual([true, true]);
  });
});

describe('kto', () => {
  it('starts at half the weights’ mean, and pulls each side by its weight', async () => {
    const { step, gradient } = makeEngine(KTO);
    const { loss, more } = await step(labelled([episode([0]), true], [episode([1]), false]));
    expect(loss).toBeCloseTo((1 / 2 + 2 / 2) / 2, 12);
    // ±w β σ'(0) / 2 = w / 16, times [j = token] − 1/4.
    expectClose(gradient(), [-1 / 16 + 1 / 64 - 2 / 64, 2 / 16 + 1 / 64 - 2 / 64, -1 / 64, -1 / 64]);
    expect(more).toEqual({
      'train/rewards_chosen': 0,
      'train/rewards_rejected': 0,
      'train/rewards_margins': 0,
      'train/kl': 0,
    });
  });

  it('measures against the mean of mismatched replies under this episode’s screens', async () => {
    // On a red screen token 0 is more likely by a factor e; on a black one everything is as in the reference.
    const { step } = makeEngine(KTO, { red: [1, 0, 0, 0] });
    const black = episode([0], [0]);
    const red = [makeExample([1], { screenshot: 'f' })];
    const { loss, more } = await step(labelled([black, true], [red, false]));
    const [first, other] = [1 - log(exp(1) + 3) + log(4), -log(exp(1) + 3) + log(4)];
    // The black one's screens with the red one's reply: 0. The red one's only screen with both replies of the black one.
    const z = (0 + 2 * first) / 2;
    expect(more!['train/kl']).toBeCloseTo(z, 6);
    const sigmoid = (x: number) => 1 / (1 + exp(-x));
    const desirable = 1 - sigmoid(0.5 * (0 - z));
    const undesirable = 2 * (1 - sigmoid(0.5 * (z - other)));
    expect(loss).toBeCloseTo((desirable + undesirable) / 2, 6);
    expect(more!['train/rewards_rejected']).toBeCloseTo(0.5 * other, 6);
  });

  it('takes 0 where that mean is below it, and where an episode is alone', async () => {
    const below = makeEngine(KTO, { bias: [0, 0, 1, 0] });
    const { more } = await below.step(labelled([episode([0]), true], [episode([1]), false]));
    expect(more!['train/kl']).toBe(0);
    const alone = makeEngine(KTO, { bias: [1, 0, 0, 0] });
    const result = await alone.step(labelled([episode([0]), true]));
    expect(Object.keys(result.more!)).toEqual(['train/rewards_chosen', 'train/kl']);
    expect(result.more!['train/kl']).toBe(0);
  });

  it('moves towards the desirable and away from the undesirable', async () => {
    const { step, model } = makeEngine(KTO);
    const losses: number[] = [];
    for (let i = 0; i < 20; i++) losses.push((await step(labelled([episode([0]), true], [episode([1]), false]))).loss);
    expect(losses.at(-1)).toBeLessThan(losses[0]! * 0.8);
    const bias = model.weights.get('bias')!.data;
    expect([bias[0]! > 0, bias[1]! < 0]).toEqual([true, true]);
  });
});

describe('mismatchedEpisodes', () => {
  it('puts each reply once under the episode that comes next, the last screen standing in where there are too few', () => {
    const named = (screens: string, ...replies: string[]) =>
      replies.map((text, i) => makeExample([i], { screenshot: screens[i]!, text }));
    const all = mismatchedEpisodes([named('ab', 'A', 'B'), named('c', 'C'), named('def', 'D', 'E', 'F')]);
    const seen = all.map((steps) => steps.map(({ screenshot, text }) => `${screenshot}:${text}`).join(' '));
    expect(seen).toEqual(['a:D b:E b:F', 'c:A c:B', 'd:C']);
  });

  it('is nothing for an episode alone', () => {
    expect(mismatchedEpisodes([episode([0])])).toEqual([]);
  });
});

describe('a step on preferences', () => {
  const units = [
    { chosen: episode([0, 1, 3], [2]), rejected: episode([1]) },
    { chosen: episode([3]), rejected: episode([0, 0, 2, 3], [1, 3]) },
  ];
  const episodes = units.flatMap(({ chosen, rejected }) => [chosen, rejected]);

  it.each([
    ['dpo', DPO, { kind: 'dpo', units }],
    ['kto', KTO, labelled(...episodes.map((one, i): [Episode, boolean] => [one, i % 2 === 0]))],
  ] as const)('of %s has the same gradient whatever the micro-batches', async (_, objective, batch) => {
    const weights = { bias: [0.5, -0.3, 0.2, 0] };
    const whole = makeEngine(objective, weights, { microBatch: 99 });
    const { loss } = await whole.step(batch);
    for (const microBatch of [1, 2]) {
      const cut = makeEngine(objective, weights, { microBatch });
      expect((await cut.step(batch)).loss).toBeCloseTo(loss, 12);
      expectClose(cut.gradient(24), whole.gradient(24));
    }
  });

  it('changes nothing where a log-probability is not finite', async () => {
    const { step, engine } = makeEngine(DPO, { bias: [Number.NaN, 0, 0, 0] });
    expect(await step(pairOf(episode([1]), episode([2])))).toMatchObject({ applied: false });
    expect([engine.optimizerSteps, engine.parameters.value[1]]).toEqual([0, 0]);
  });

  it('takes a token that the policy excludes as unscored', async () => {
    const model = new LinearModel(4);
    const reference = new LinearModel(4);
    const excluding = new Map([['bias', Float32Array.of(0, 0, Number.NEGATIVE_INFINITY, 0)]]);
    for (const one of [model, reference]) one.setWeights(excluding);
    const engine = new LocalEngine(model, { ...LOCAL, objective: DPO }, { frames, reference });
    const result = await engine.step(pairOf(episode([0, 2]), episode([1])), { lr: 0.1, onPolicy: true });
    expect(result).toMatchObject({ applied: true, loss: expect.closeTo(log(2), 6), statistics: { excluded: 1 } });
  });
});

interface GoldenCase {
  objective: 'dpo' | 'kto';
  beta: number;
  desirable: boolean[];
  reference_point: number;
  desirable_weight: number;
  undesirable_weight: number;
  want: { loss: number; d_policy: number[]; d_policy_chosen: number[]; d_policy_rejected: number[] };
  [field: string]: unknown;
}

const cases: GoldenCase[] = shared
  ? JSON.parse(readFileSync(join(shared, 'golden', 'preference_loss.json'), 'utf8')).cases
  : [];

describe.skipIf(!shared)('the reference numbers', () => {
  const column = (golden: GoldenCase, name: string) => golden[name] as number[];

  it.each(cases.filter((golden) => golden.objective === 'dpo'))('of dpo at β = $beta', async (golden) => {
    const units = column(golden, 'policy_chosen').map(() => ({ chosen: episode([0]), rejected: episode([1]) }));
    const score = async () => ({
      policy: [...column(golden, 'policy_chosen'), ...column(golden, 'policy_rejected')],
      reference: [...column(golden, 'ref_chosen'), ...column(golden, 'ref_rejected')],
    });
    const got = await preferenceLoss({ kind: 'dpo', units }, { kind: 'dpo', beta: golden.beta }, score);
    expect(got!.loss).toBeCloseTo(golden.want.loss, 6);
    const wanted = [...golden.want.d_policy_chosen, ...golden.want.d_policy_rejected];
    expectClose(
      got!.scales,
      wanted.map((slope) => -slope),
    );
  });

  it.each(cases.filter((golden) => golden.objective === 'kto'))('of kto at β = $beta', async (golden) => {
    const units = golden.desirable.map((label) => ({ episode: episode([0]), label }));
    // The mismatched replies have the log-ratio that the case takes as its reference point.
    const score = async () => ({
      policy: [...column(golden, 'policy'), ...units.map(() => golden.reference_point)],
      reference: [...column(golden, 'ref'), ...units.map(() => 0)],
    });
    const [desirableWeight, undesirableWeight] = [golden.desirable_weight, golden.undesirable_weight];
    const objective: Objective = { kind: 'kto', beta: golden.beta, desirableWeight, undesirableWeight };
    const got = await preferenceLoss({ kind: 'kto', units }, objective, score);
    expect(got!.loss).toBeCloseTo(golden.want.loss, 6);
    expect(got!.metrics['train/kl']).toBeCloseTo(golden.reference_point, 12);
    expectClose(
      got!.scales,
      golden.want.d_policy.map((slope) => -slope),
    );
  });
});
