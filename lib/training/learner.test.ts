import { describe, expect, it } from 'vitest';
import { Random } from '../stream/random.ts';
import type { Example } from './examples.ts';
import { frames, makeExample, makeLearner } from './learner.testing.ts';
import { microBatches, scorePass } from './passes.ts';
import { PRESETS } from './presets.ts';

const copy = (map: ReadonlyMap<string, { data: Float32Array }>) => [...map.values()].map(({ data }) => [...data]);

describe('update', () => {
  it('has the gradient of the policy term: advantage · (p − onehot) / tokens', async () => {
    const { update, parameters } = makeLearner();
    await update([makeExample([0], { advantage: 2 }), makeExample([1], { advantage: -1 })]);
    // Uniform over 4: p = 1/4. d/dbias_j = Σ A (p_j − [j = token]) / 2.
    const bias = parameters.gradient.subarray(0, 4);
    expect([...bias]).toEqual([(2 * -0.75 - 0.25) / 2, (0.5 + 0.75) / 2, (0.5 - 0.25) / 2, (0.5 - 0.25) / 2]);
  });

  it('moves by the learning rate at AdamW’s first step, and counts', async () => {
    const { learner, update, parameters, model } = makeLearner();
    const result = await update([makeExample([0])]);
    const bias = [...model.weights.get('bias')!.data];
    bias.forEach((b, j) => {
      expect(b).toBeCloseTo(j === 0 ? 0.1 : -0.1, 6);
    });
    expect(result).toMatchObject({ applied: true, examples: 1, steps: 1, lr: 0.1 });
    expect(result.loss).toBeCloseTo(-1, 6); // −A · r with r = 1
    expect([learner.updates, parameters.step]).toEqual([1, 1]);
  });

  it('is the same whatever the micro-batches', async () => {
    const examples = () =>
      [[0, 1, 3], [2], [1, 3], [0, 0, 0, 3], [2, 3]].map((tokens, i) => makeExample(tokens, { advantage: i - 1.5 }));
    const gradients: number[][] = [];
    for (const microBatch of [1, 2, 5]) {
      const { update, parameters } = makeLearner({ microBatch, objective: PRESETS.dart.objective });
      await update(examples());
      gradients.push([...parameters.gradient]);
    }
    for (const other of gradients.slice(1)) {
      other.forEach((g, i) => {
        expect(g).toBeCloseTo(gradients[0]![i]!, 6);
      });
    }
  });

  it('truncates importance weights and takes unscored tokens with weight 1', async () => {
    const objective = PRESETS.dart.objective;
    const { update } = makeLearner({ objective: { ...objective, klBeta: 0 } });
    const ln = Math.log;
    // Current probability 1/4: sampled at 1/2 → w = 0.5; sampled at 1/8 → 2, truncated to 1; unscored → 1.
    const rolloutLogp = Float32Array.of(ln(0.5), ln(0.125), Number.NaN);
    const { statistics } = await update([makeExample([0, 1, 3], { rolloutLogp })]);
    expect(statistics.weight).toBeCloseTo(2.5, 5);
    expect(statistics).toMatchObject({ tokens: 3, rolloutTokens: 2, truncated: 1 });
  });

  it('pulls towards the reference where β > 0', async () => {
    const run = async (klBeta: number) => {
      const { update, model, reference } = makeLearner({ objective: { ...PRESETS.dart.objective, klBeta } });
      reference.setWeights(new Map([['bias', Float32Array.of(3, 0, 0, 0)]]));
      await update([makeExample([0], { advantage: 0 })]);
      return model.weights.get('bias')!.data[0]!;
    };
    expect(await run(0)).toBe(0);
    expect(await run(0.1)).toBeGreaterThan(0.05);
  });

  it('takes several steps, the ratio against the start of the update', async () => {
    const { learner, update, parameters } = makeLearner({ minibatches: 2, epochs: 2 });
    const examples = [0, 1, 2, 0].map((token, i) => makeExample([token], { advantage: i - 1.5 }));
    const { steps, statistics } = await update(examples);
    expect([steps, parameters.step, learner.updates]).toEqual([4, 4, 1]);
    expect(statistics.approxKl).toBeGreaterThan(0);
    expect(examples.every((example) => Math.abs(example.oldLogp![0]! - Math.log(0.25)) < 1e-6)).toBe(true);
  });

  it('leaves everything as it was when the loss is not finite, and gives up after three in a row', async () => {
    const { learner, update, model } = makeLearner();
    await update([makeExample([0])]);
    const before = copy(model.weights);
    const poisoned = () => makeExample([0], { advantage: Number.NaN });
    for (let i = 0; i < 2; i++) {
      expect((await update([poisoned()])).applied).toBe(false);
      learner.checkBad();
    }
    expect(copy(model.weights)).toEqual(before);
    expect(learner.updates).toBe(1);
    expect((await update([poisoned()])).applied).toBe(false);
    expect(() => learner.checkBad()).toThrow('not finite in 3 updates in a row');
  });

  it('forgets a bad update after a good one', async () => {
    const { learner, update } = makeLearner();
    const poisoned = () => makeExample([0], { advantage: Number.NaN });
    for (let i = 0; i < 4; i++) {
      await update([poisoned()]);
      learner.checkBad();
      expect((await update([makeExample([0])])).applied).toBe(true);
    }
  });
});

describe('learning', () => {
  it('makes the rewarded token of a bandit likely, by what the picture shows', async () => {
    const { update, model } = makeLearner({ objective: { ...PRESETS.grpo.objective, tisCap: 1 }, microBatch: 16 });
    const random = new Random(5);
    const chances = async (screenshot: string) => {
      const arms = [0, 1, 2, 3].map((arm) => makeExample([arm], { screenshot }));
      return (await scorePass(model, arms, frames, 4)).map(({ logp }) => Math.exp(logp[0]!));
    };
    const pull = (p: number[]) => {
      const u = random.next();
      return Math.max(0, [0, 1, 2].filter((i) => u > p.slice(0, i + 1).reduce((a, b) => a + b)).length);
    };
    for (let i = 0; i < 80; i++) {
      const pulls: Example[] = [];
      for (const [screenshot, rewarded] of [
        ['f', 2],
        ['0', 0],
      ] as const) {
        const p = await chances(screenshot);
        for (let n = 0; n < 16; n++) {
          const arm = pull(p);
          const advantage = (arm === rewarded ? 1 : 0) - p[rewarded]!;
          const rolloutLogp = Float32Array.of(Math.log(p[arm]!));
          pulls.push(makeExample([arm], { screenshot, advantage, rolloutLogp }));
        }
      }
      await update(pulls);
    }
    expect((await chances('f'))[2]).toBeGreaterThan(0.9);
    expect((await chances('0'))[0]).toBeGreaterThan(0.9);
  });

  it('brings the loss of imitation down', async () => {
    const { update } = makeLearner({ objective: 'sft' });
    const shown = () => [makeExample([0, 1, 3]), makeExample([2, 1, 3], { screenshot: 'f' })];
    const first = (await update(shown())).loss;
    expect(first).toBeCloseTo(Math.log(4), 5);
    for (let i = 0; i < 80; i++) await update(shown());
    expect((await update(shown())).loss).toBeLessThan(0.1);
  });
});

describe('passes', () => {
  it('puts replies of like length and one temperature together', () => {
    const examples = [
      makeExample([0, 0, 0]),
      makeExample([0]),
      makeExample([0, 0], { temperature: 0.5 }),
      makeExample([0, 0]),
      makeExample([0]),
    ];
    expect(microBatches(examples, 2)).toEqual([
      { indices: [2], temperature: 0.5 },
      { indices: [1, 4], temperature: 1 },
      { indices: [3, 0], temperature: 1 },
    ]);
  });

  it('scores each reply in the order given', async () => {
    const { model } = makeLearner();
    model.setWeights(new Map([['bias', Float32Array.of(Math.log(3), 0, 0, 0)]]));
    const scores = await scorePass(model, [makeExample([1, 0]), makeExample([0])], frames, 1);
    expect(scores.map(({ logp }) => logp.length)).toEqual([2, 1]);
    expect(Math.exp(scores[0]!.logp[0]!)).toBeCloseTo(1 / 6, 6);
    expect(Math.exp(scores[0]!.logp[1]!)).toBeCloseTo(1 / 2, 6);
    // H = −½ ln ½ − 3 · 1/6 ln 1/6
    expect(scores[1]!.entropy[0]).toBeCloseTo(0.5 * Math.log(2) + 0.5 * Math.log(6), 5);
  });
});
