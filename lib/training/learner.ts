import { addStatistics, type PolicyStatistics } from '../../native/index.ts';
import { DartError } from '../errors.ts';
import { Random } from '../stream/random.ts';
import { type Batch, type Engine, examplesOf } from './engine.ts';
import type { TrainMetric, TrainMetrics } from './metrics.ts';
import { learningRate, type Schedule } from './schedule.ts';

export interface LearnerSettings {
  schedule: Schedule;
  /** Optimiser steps that an update's units are divided among. */
  minibatches: number;
  /** Passes over an update's units. */
  epochs: number;
  /** Updates in a row with a loss or gradient that is not finite, after which training stops. */
  maxBadUpdates: number;
  seed: number;
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
  more: TrainMetrics;
}

/** So many updates in a row were not finite that there is no sense in more. */
export class TooManyBadUpdates extends DartError {
  constructor(count: number, update: number) {
    super(`the loss or its gradient was not finite in ${count} updates in a row`, {
      where: `update ${update}`,
      hint: 'a lower --lr, a smaller --max-grad-norm, or the last published version',
    });
  }
}

/** Turns a batch into one update of an engine: its optimiser steps, its learning rate, what is done when one fails. */
export class Learner {
  readonly engine: Engine;
  readonly settings: LearnerSettings;
  /** The version that the weights are at: updates applied so far, and `rollbacks`. */
  updates = 0;
  /** Of these, numbers that going back to an earlier version took: the schedule knows nothing of them. */
  rollbacks = 0;
  #badInRow = 0;

  constructor(engine: Engine, settings: LearnerSettings) {
    this.engine = engine;
    this.settings = settings;
  }

  /** One update: every unit once per epoch, in `minibatches` optimiser steps. */
  async update(batch: Batch): Promise<UpdateResult> {
    const steps = this.#optimiserSteps(batch);
    if (steps.length > 1 && batch.kind === 'policy') await this.engine.scoreOld(batch.units);
    const lr = learningRate(this.settings.schedule, this.updates - this.rollbacks);
    const counts = { examples: examplesOf(batch).length, steps: 0 };
    const sums = { loss: 0, gradNorm: 0, statistics: addStatistics([]), more: {} };
    const result: UpdateResult = { applied: true, ...counts, lr, ...sums };
    for (const [i, part] of steps.entries()) {
      const {
        applied,
        loss,
        gradNorm,
        statistics,
        more = {},
      } = await this.engine.step(part, { lr, onPolicy: i === 0 });
      if (!applied) break;
      result.statistics = addStatistics([result.statistics, statistics]);
      result.steps += 1;
      result.loss += (loss - result.loss) / result.steps;
      result.gradNorm += (gradNorm - result.gradNorm) / result.steps;
      result.more = meanOf(result.more, more, result.steps);
    }
    if (result.steps === 0) {
      this.#badInRow += 1;
      return { ...result, applied: false, loss: Number.NaN, gradNorm: Number.NaN };
    }
    this.#badInRow = 0;
    this.updates += 1;
    return result;
  }

  /** @throws TooManyBadUpdates where the newest `maxBadUpdates` updates were not finite. */
  checkBad(): void {
    if (this.#badInRow >= this.settings.maxBadUpdates) throw new TooManyBadUpdates(this.#badInRow, this.updates + 1);
  }

  /** The units of each optimiser step; shuffled only where there is more than one, by seed and update. */
  #optimiserSteps(batch: Batch): Batch[] {
    const { minibatches, epochs, seed } = this.settings;
    const parts = Math.min(minibatches, batch.units.length);
    const steps: Batch[] = [];
    for (let epoch = 0; epoch < epochs; epoch++) {
      const order: unknown[] = [...batch.units];
      if (parts > 1) new Random(seed).fork(`update ${this.updates} epoch ${epoch}`).shuffle(order);
      for (let part = 0; part < parts; part++) {
        const units = order.slice(bound(part, parts, order.length), bound(part + 1, parts, order.length));
        steps.push({ kind: batch.kind, units } as Batch);
      }
    }
    return steps;
  }
}

/** The mean of `count` steps from that of the first `count - 1` and the last one; what is no number stays out. */
function meanOf(before: TrainMetrics, last: TrainMetrics, count: number): TrainMetrics {
  const means: TrainMetrics = { ...before };
  for (const [name, value] of Object.entries(last) as [TrainMetric, number | null][]) {
    const old = means[name];
    means[name] = typeof old === 'number' && value !== null ? old + (value - old) / count : value;
  }
  return means;
}

/** Where part number `part` of `parts` near-equal parts of a list begins. */
function bound(part: number, parts: number, length: number): number {
  return Math.round((part * length) / parts);
}
