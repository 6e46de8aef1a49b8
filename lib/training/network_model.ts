import { gridOf } from '../policy/network/config.ts';
import type { Grammar } from '../policy/network/grammar.ts';
import { isWholeReply, replyGrammar } from '../policy/network/grammar.ts';
import { TrainableNetwork } from '../policy/network/trainable.ts';
import type { ReplyInput, TrainableModel, WeightTensor } from './model.ts';

/** An ONNX policy as a model to train: onnxruntime runs its graph and the graph of its gradient. */
export class NetworkModel implements TrainableModel {
  readonly #network: TrainableNetwork;
  readonly #grammar: Grammar;

  private constructor(network: TrainableNetwork) {
    this.#network = network;
    const { config } = network;
    this.#grammar = replyGrammar(gridOf(config).cells, config.replyTokens);
  }

  /**
   * @param path A policy file.
   * @throws DartError: a missing file, one that is no policy, an operator that cannot be differentiated (named).
   */
  static async open(path: string, options: { threads: number; microBatch?: number }): Promise<NetworkModel> {
    return new NetworkModel(await TrainableNetwork.open(path, options));
  }

  get vocabulary(): number {
    return this.#network.vocabulary;
  }

  get weights(): ReadonlyMap<string, WeightTensor> {
    return this.#network.weights;
  }

  forward(batch: readonly ReplyInput[], options?: { gradient: boolean }): Promise<Float32Array> {
    return this.#network.forward(batch, options);
  }

  backward(dlogits: Float32Array): Promise<ReadonlyMap<string, Float32Array>> {
    return this.#network.backward(dlogits);
  }

  setWeights(values: ReadonlyMap<string, Float32Array>): void {
    this.#network.setWeights(values);
  }

  encodeReply(text: string): readonly number[] | null {
    return this.#network.encodeReply(text);
  }

  isReply(ids: readonly number[]): boolean {
    return isWholeReply(this.#grammar, ids);
  }

  close(): Promise<void> {
    return this.#network.close();
  }
}
