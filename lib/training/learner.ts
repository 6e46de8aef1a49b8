import { addStatistics, type Device, logpEntropy, type PolicyStatistics } from '../../native/index.ts';
import { DartError } from '../errors.ts';
import { Random } from '../stream/random.ts';
import type { TrainableModel } from './engine.ts';
import type { Example } from './examples.ts';
import type { FrameCache } from './frames.ts';
import { type AdamSettings, Parameters } from './parameters.ts';
import { inputsOf, lossAndGradient, microBatches, scorePass } from './passes.ts';
import type { PolicyObjective } from './presets.ts';
import { tokenScales } from './scales.ts';
import { learningRate, type Schedule } from './schedule.ts';

export interface LearnerSettings {
  objective: PolicyObjective | 'sft';
  schedule: Schedule;
  adam: AdamSettings;
  /** Examples that go through the model together. */
  microBatch: number;
  /** Optimiser steps that an update's examples are divided among. */
  minibatches: number;
  /** Passes over an update's examples. */
  epochs: number;
  /** Divisor of the `constant` aggregation; null is the longest reply of the minibatch. */
  aggregationConstant: number | null;
  /** Updates in a row with a loss or gradient that is not finite, after which training stops. */
  maxBadUpdates: number;
  seed: number;
  /** Where loss, log-probabilities and optimiser are computed; the model decides for itself. Default `cpu`. */
  device?: Device;
}

/** What one update did, summed over its optimiser steps. */
export interface UpdateResult {
  /** False where the loss or the gradient was not finite and the weights were left as they were. */
  applied: boolean;
  examples: number;
  /** Optimiser steps taken; fewer than planned where one was not finite. */
  steps: number;
  lr: number;
  /** Means over the optimiser steps. */
  loss: number;
  gradNorm: number;
  statistics: PolicyStatistics;
}

/**
 * Holds the model, its optimiser and their counters, and turns a list of examples into one update. Knows nothing of
 * records, files or versions.
 */
export class Learner {
  readonly model: TrainableModel;
  readonly parameters: Parameters;
  readonly settings: LearnerSettings;
  /** Updates applied so far; the version that the weights are at. */
  updates = 0;
  #badInRow = 0;
  readonly #reference: TrainableModel | null;
  readonly #frames: Pick<FrameCache, 'get'>;

  /** @param reference The frozen policy of the KL term; needed where β > 0. */
  constructor(
    model: TrainableModel,
    settings: LearnerSettings,
    surroundings: { frames: Pick<FrameCache, 'get'>; reference: TrainableModel | null },
  ) {
    this.model = model;
    this.settings = settings;
    this.parameters = new Parameters(model);
    this.#frames = surroundings.frames;
    this.#reference = surroundings.reference;
  }

  /** Mean token entropy of each example under the current weights; keeps their log-probabilities as logo. */
  async measure(examples: readonly Example[]): Promise<Float64Array> {
    const { microBatch, device } = this.settings;
    const scores = await scorePass(this.model, examples, this.#frames, microBatch, device);
    examples.forEach((example, i) => {
      example.oldLogp = scores[i]!.logp;
    });
    return Float64Array.from(scores, ({ entropy }) => entropy.reduce((sum, h) => sum + h, 0) / entropy.length);
  }

  /**
   * One update: every example once per epoch, in `minibatches` optimiser steps.
   * @throws DartError after `maxBadUpdates` updates in a row that were not finite.
   */
  async update(examples: readonly Example[]): Promise<UpdateResult> {
    const steps = this.#optimiserSteps(examples);
    if (steps.length > 1) await this.#scoreOld(examples);
    const lr = learningRate(this.settings.schedule, this.updates);
    const counts = { examples: examples.length, steps: 0 };
    const result: UpdateResult = { applied: true, ...counts, lr, loss: 0, gradNorm: 0, statistics: addStatistics([]) };
    for (const [i, batch] of steps.entries()) {
      const sums = await this.#gradient(batch, i === 0);
      if (sums === null) break;
      const { applied, gradNorm: norm } = this.parameters.update(this.settings.adam, lr, this.settings.device);
      if (!applied) break;
      const { loss } = sums;
      result.statistics = addStatistics([result.statistics, sums]);
      result.steps += 1;
      result.loss += (loss - result.loss) / result.steps;
      result.gradNorm += (norm - result.gradNorm) / result.steps;
    }
    if (result.steps === 0) return this.#refuse(result);
    this.#badInRow = 0;
    this.updates += 1;
    return result;
  }

  /** The examples of each optimiser step; shuffled only where there is more than one, by seed and update. */
  #optimiserSteps(examples: readonly Example[]): Example[][] {
    const { minibatches, epochs, seed } = this.settings;
    const parts = Math.min(minibatches, examples.length);
    const steps: Example[][] = [];
    for (let epoch = 0; epoch < epochs; epoch++) {
      const order = [...examples];
      if (parts > 1) new Random(seed).fork(`update ${this.updates} epoch ${epoch}`).shuffle(order);
      for (let part = 0; part < parts; part++) {
        steps.push(order.slice(bound(part, parts, order.length), bound(part + 1, parts, order.length)));
      }
    }
    return steps;
  }

  async #scoreOld(examples: readonly Example[]): Promise<void> {
    if (this.settings.objective === 'sft') return;
    await this.measure(examples.filter((example) => example.oldLogp === null));
  }

  /**
   * Fills the parameters' gradient from one optimiser step's examples.
   * @returns the sums over its tokens; null where the loss was not finite.
   */
  async #gradient(examples: readonly Example[], onPolicy: boolean): Promise<PolicyStatistics | null> {
    const { objective, microBatch, aggregationConstant, device } = this.settings;
    const lengths = examples.map((example) => example.tokens.length);
    const aggregation = objective === 'sft' ? 'token-mean' : objective.aggregation;
    const scales = tokenScales(lengths, aggregation, aggregationConstant);
    const parts: PolicyStatistics[] = [];
    this.parameters.clearGradient();
    for (const { indices, temperature } of microBatches(examples, microBatch)) {
      const batch = { examples: indices.map((i) => examples[i]!), scales: indices.map((i) => scales[i]!), temperature };
      const inputs = inputsOf(batch.examples, this.#frames);
      const refLogp = await this.#referenceLogp(inputs, temperature);
      const logits = await this.model.forward(inputs);
      const sums = lossAndGradient(logits, this.model.vocabulary, { ...batch, objective, onPolicy, refLogp, device });
      if (sums.nonfinite > 0) return null;
      parts.push(sums);
      this.parameters.addGradient(await this.model.backward(logits));
    }
    return addStatistics(parts);
  }

  async #referenceLogp(inputs: ReturnType<typeof inputsOf>, temperature: number): Promise<Float32Array | null> {
    const { objective, device } = this.settings;
    if (objective === 'sft' || objective.klBeta === 0) return null;
    if (!this.#reference) throw new Error('a KL term needs a reference policy');
    const logits = await this.#reference.forward(inputs, { gradient: false });
    const target = Int32Array.from(inputs.flatMap(({ tokens }) => [...tokens]));
    const { vocabulary } = this.model;
    return logpEntropy({ logits, vocabulary, target, temperature, nonfinite: 'count', device }).logp;
  }

  #refuse(result: UpdateResult): UpdateResult {
    this.#badInRow += 1;
    if (this.#badInRow >= this.settings.maxBadUpdates) {
      throw new DartError(`the loss or its gradient was not finite in ${this.#badInRow} updates in a row`, {
        where: `update ${this.updates + 1}`,
        hint: 'a lower --lr, a smaller --max-grad-norm, or the last published version',
      });
    }
    return { ...result, applied: false, loss: Number.NaN, gradNorm: Number.NaN };
  }
}

/** Where part number `part` of `parts` near-equal parts of a list begins. */
function bound(part: number, parts: number, length: number): number {
  return Math.round((part * length) / parts);
}
