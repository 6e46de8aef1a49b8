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
  /** Where it was told to stop before its end; null where it came to it. */
  left: LeftUpdate | null;
}

/** An update that was told to stop between two of its optimiser steps. */
export interface LeftUpdate {
  /** Optimiser steps that were taken, and those that it would have taken. */
  done: number;
  of: number;
  /** Whether the weights are again those from before it. */
  undone: boolean;
}

/** What is around an update. */
export interface UpdateSurroundings {
  /** The number of the update in the schedule, from 0; without it that of all. */
  scheduled?: number;
  /** Is looked at before each of several optimiser steps. */
  signal?: AbortSignal;
  /** Hears how far it is, before each of several optimiser steps. */
  onStep?: (done: number, of: number) => void;
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
  /** The version that the weights are at: updates applied so far, and numbers that going back to an earlier one took. */
  updates = 0;
  #badInRow = 0;

  constructor(engine: Engine, settings: LearnerSettings) {
    this.engine = engine;
    this.settings = settings;
  }

  /** One update: every unit once per epoch, in `minibatches` optimiser steps. */
  async update(batch: Batch, { scheduled, signal, onStep }: UpdateSurroundings = {}): Promise<UpdateResult> {
    const planned = this.settings.epochs * this.#partsOf(batch);
    if (planned > 1 && batch.kind === 'policy') await this.engine.scoreOld(batch.units);
    const undo = planned > 1 ? this.engine.remember?.() : undefined;
    const lr = learningRate(this.settings.schedule, scheduled ?? this.updates);
    const counts = { examples: examplesOf(batch).length, steps: 0 };
    const sums = { loss: 0, gradNorm: 0, statistics: addStatistics([]), more: {}, left: null };
    const result: UpdateResult = { applied: true, ...counts, lr, ...sums };
    for (const part of this.#optimiserSteps(batch)) {
      if (planned > 1) onStep?.(result.steps, planned);
      if (planned > 1 && signal?.aborted) {
        if (result.steps > 0) undo?.();
        const left = { done: result.steps, of: planned, undone: result.steps === 0 || undo !== undefined };
        return { ...result, applied: false, left };
      }
      const onPolicy = result.steps === 0;
      const { applied, loss, gradNorm, statistics, more = {} } = await this.engine.step(part, { lr, onPolicy });
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

  #partsOf(batch: Batch): number {
    return Math.min(this.settings.minibatches, batch.units.length);
  }

  /** The units of each optimiser step, one after the other; shuffled only where there is more than one, by seed and update. */
  *#optimiserSteps(batch: Batch): Generator<Batch, void, void> {
    const { epochs, seed } = this.settings;
    const parts = this.#partsOf(batch);
    for (let epoch = 0; epoch < epochs; epoch++) {
      const order: unknown[] = [...batch.units];
      if (parts > 1) new Random(seed).fork(`update ${this.updates} epoch ${epoch}`).shuffle(order);
      for (let part = 0; part < parts; part++) {
        const units = order.slice(bound(part, parts, order.length), bound(part + 1, parts, order.length));
        yield { kind: batch.kind, units } as Batch;
      }
    }
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
