import { type AdamwResult, adamw, type Device } from '../../native/index.ts';
import { DartError } from '../errors.ts';
import type { TrainableModel, WeightTensor } from './model.ts';

export interface AdamSettings {
  beta1: number;
  beta2: number;
  epsilon: number;
  /** Decoupled; of matrices only, not of biases and scales. */
  weightDecay: number;
  /** Global L2 norm that the gradient is scaled down to. */
  maxGradNorm: number;
}

/**
 * A model's weights as one flat vector with its gradient and AdamW moments beside it, and views by name. One vector, so
 * that the optimiser is one call and the order of every sum is fixed.
 */
export class Parameters {
  readonly size: number;
  readonly value: Float32Array;
  readonly gradient: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
  /** Steps taken: AdamW's bias correction counts from 1. */
  step = 0;
  readonly #model: TrainableModel;

  constructor(model: TrainableModel) {
    this.#model = model;
    this.size = [...model.weights.values()].reduce((sum, tensor) => sum + tensor.data.length, 0);
    [this.value, this.gradient, this.first, this.second] = [0, 1, 2, 3].map(() => new Float32Array(this.size)) as [
      Float32Array,
      Float32Array,
      Float32Array,
      Float32Array,
    ];
    for (const [name, view] of this.#views(this.value)) view.set(model.weights.get(name)!.data);
  }

  clearGradient(): void {
    this.gradient.fill(0);
  }

  /** @throws DartError naming a weight whose gradient has another size. */
  addGradient(gradients: ReadonlyMap<string, Float32Array>): void {
    for (const [name, view] of this.#views(this.gradient)) {
      const part = gradients.get(name);
      if (!part) continue;
      if (part.length !== view.length) {
        throw new DartError(`the model gave ${part.length} gradient values for ${view.length} of '${name}'`);
      }
      for (let i = 0; i < part.length; i++) view[i]! += part[i]!;
    }
  }

  /**
   * One AdamW step after scaling the gradient by min(1, maxGradNorm / (norm + 1e-6)), as torch's clip_grad_norm_. A
   * gradient that is not finite changes nothing.
   */
  update(settings: AdamSettings, learningRate: number, device: Device = 'cpu'): AdamwResult {
    const { beta1, beta2, epsilon, maxGradNorm, weightDecay } = settings;
    const [gradients, firsts, seconds] = [this.gradient, this.first, this.second].map((vector) => this.#views(vector));
    const values = this.#views(this.value);
    const tensors = [...values].map(([name, parameter]) => ({
      parameter,
      gradient: gradients!.get(name)!,
      firstMoment: firsts!.get(name)!,
      secondMoment: seconds!.get(name)!,
      weightDecay: this.#model.weights.get(name)!.shape.length > 1 ? weightDecay : 0,
    }));
    const constants = { step: this.step + 1, learningRate, beta1, beta2, epsilon, maxGradNorm };
    const result = adamw({ tensors, ...constants, device });
    if (!result.applied) return result;
    this.step += 1;
    this.#model.setWeights(values);
    return result;
  }

  /** The weights, as they would be written to a file. */
  tensors(): Map<string, WeightTensor> {
    return this.#tensors(this.value, '');
  }

  /** Both moments, named `exp_avg.<weight>` and `exp_avg_sq.<weight>` as torch names them. */
  moments(): Map<string, WeightTensor> {
    return new Map([...this.#tensors(this.first, 'exp_avg.'), ...this.#tensors(this.second, 'exp_avg_sq.')]);
  }

  /**
   * Takes weights, and moments where there are any, as `tensors` and `moments` gave them.
   * @param where The file, for messages.
   * @throws DartError for a tensor that is missing or has another size.
   */
  restore(weights: ReadonlyMap<string, WeightTensor>, where: string): void {
    this.#fill(this.value, weights, '', where);
    this.#model.setWeights(this.#views(this.value));
  }

  restoreMoments(moments: ReadonlyMap<string, WeightTensor>, step: number, where: string): void {
    this.#fill(this.first, moments, 'exp_avg.', where);
    this.#fill(this.second, moments, 'exp_avg_sq.', where);
    this.step = step;
  }

  /** Copies weights, moments and step. @returns what puts them back. */
  remember(): () => void {
    const vectors = [this.value, this.first, this.second].map((vector) => ({ vector, copy: vector.slice() }));
    const { step } = this;
    return () => {
      for (const { vector, copy } of vectors) vector.set(copy);
      this.step = step;
      this.#model.setWeights(this.#views(this.value));
    };
  }

  #fill(vector: Float32Array, tensors: ReadonlyMap<string, WeightTensor>, prefix: string, where: string): void {
    for (const [name, view] of this.#views(vector)) {
      const data = tensors.get(prefix + name)?.data;
      if (data?.length !== view.length) {
        throw new DartError(`'${prefix}${name}' has ${data?.length ?? 'no'} values, the policy has ${view.length}`, {
          where,
          hint: 'weights of the same network',
        });
      }
      view.set(data);
    }
  }

  #tensors(vector: Float32Array, prefix: string): Map<string, WeightTensor> {
    const entries = [...this.#views(vector)].map(([name, data]): [string, WeightTensor] => [
      prefix + name,
      { shape: this.#model.weights.get(name)!.shape, data },
    ]);
    return new Map(entries);
  }

  /** The part of a flat vector that belongs to each weight. */
  #views(vector: Float32Array): Map<string, Float32Array> {
    let at = 0;
    const views = new Map<string, Float32Array>();
    for (const [name, { data }] of this.#model.weights) {
      views.set(name, vector.subarray(at, at + data.length));
      at += data.length;
    }
    return views;
  }
}
