import type { Spelling } from './spelling.ts';

/**
 * What training asks of a model. The embedded network satisfies it (network_model.ts); so does anything else that can
 * give logits for reply tokens and carry a gradient back to its weights.
 */
export interface ReplyInput {
  /** Row-major, 3 bytes a pixel. */
  rgb: Uint8Array;
  width: number;
  height: number;
  instruction: string;
  /** Earlier replies, oldest first. */
  history: readonly string[];
  /** The reply's tokens, end token included: inputs shifted by one, and targets. */
  tokens: Int32Array;
}

export interface WeightTensor {
  shape: readonly number[];
  data: Float32Array;
}

export interface TrainableModel extends Spelling {
  /** Width V of a row of logits. */
  readonly vocabulary: number;
  /** Name to tensor, in a fixed order. Written only through `setWeights`. */
  readonly weights: ReadonlyMap<string, WeightTensor>;
  /**
   * Logits [tokens, V] of the replies' tokens, the replies one after another without padding. Row t of a reply is the
   * distribution that its token t was, or would be, drawn from. Excluded entries are −∞.
   * @param options.gradient False: `backward` will not be called.
   */
  forward(batch: readonly ReplyInput[], options?: { gradient: boolean }): Promise<Float32Array>;
  /** Gradients of the weights, given dloss/dlogits of the last `forward`; those without influence have none. */
  backward(dlogits: Float32Array): Promise<ReadonlyMap<string, Float32Array>>;
  /** Copies the values in; names that are not there are left as they were. */
  setWeights(values: ReadonlyMap<string, Float32Array>): void;
  close(): Promise<void>;
}
