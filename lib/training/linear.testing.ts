import type { ReplyInput, TrainableModel, WeightTensor } from './model.ts';

/**
 * The smallest model that an engine can hold: logits of token t = row of the token before it + bias, plus the first
 * pixel's red share times a vector. Its gradient is written by hand, so that training is tested without any network.
 */
export class LinearModel implements TrainableModel {
  readonly vocabulary: number;
  readonly weights: ReadonlyMap<string, WeightTensor>;
  forwards = 0;
  #batch: readonly ReplyInput[] = [];

  /** Token `vocabulary - 1` ends a reply; letters a, b, … are tokens 0, 1, … */
  constructor(vocabulary: number) {
    this.vocabulary = vocabulary;
    const zeros = (...shape: number[]) => ({ shape, data: new Float32Array(shape.reduce((a, b) => a * b)) });
    this.weights = new Map([
      ['bias', zeros(vocabulary)],
      ['before', zeros(vocabulary, vocabulary)],
      ['red', zeros(vocabulary)],
    ]);
  }

  async forward(batch: readonly ReplyInput[]): Promise<Float32Array> {
    this.forwards += 1;
    this.#batch = batch;
    const rows = [...this.#rows()];
    const logits = new Float32Array(rows.length * this.vocabulary);
    rows.forEach(({ before, red }, t) => {
      for (let j = 0; j < this.vocabulary; j++) {
        const previous = before < 0 ? 0 : this.#data('before')[before * this.vocabulary + j]!;
        logits[t * this.vocabulary + j] = this.#data('bias')[j]! + previous + red * this.#data('red')[j]!;
      }
    });
    return logits;
  }

  async backward(dlogits: Float32Array): Promise<ReadonlyMap<string, Float32Array>> {
    const V = this.vocabulary;
    const [bias, before, red] = [new Float32Array(V), new Float32Array(V * V), new Float32Array(V)];
    [...this.#rows()].forEach((row, t) => {
      for (let j = 0; j < V; j++) {
        const d = dlogits[t * V + j]!;
        bias[j]! += d;
        red[j]! += d * row.red;
        if (row.before >= 0) before[row.before * V + j]! += d;
      }
    });
    return new Map([
      ['bias', bias],
      ['before', before],
      ['red', red],
    ]);
  }

  setWeights(values: ReadonlyMap<string, Float32Array>): void {
    for (const [name, data] of values) this.weights.get(name)?.data.set(data);
  }

  encodeReply(text: string): number[] | null {
    const ids = [...text].map((letter) => letter.charCodeAt(0) - 97);
    return ids.every((id) => id >= 0 && id < this.vocabulary - 1) ? [...ids, this.vocabulary - 1] : null;
  }

  isReply(ids: readonly number[]): boolean {
    return ids.every((id) => id >= 0 && id < this.vocabulary);
  }

  async close(): Promise<void> {}

  #data(name: string): Float32Array {
    return this.weights.get(name)!.data;
  }

  *#rows(): Generator<{ before: number; red: number }> {
    for (const { tokens, rgb } of this.#batch) {
      for (let t = 0; t < tokens.length; t++) yield { before: t === 0 ? -1 : tokens[t - 1]!, red: rgb[0]! / 255 };
    }
  }
}
