import type { InferenceSession, Tensor } from 'onnxruntime-node';
import { DartError } from '../../errors.ts';
import { differentiate, gradientName } from '../../graph/differentiate.ts';
import type { Graph } from '../../graph/types.ts';
import { replyFeeds, sceneFeeds } from './batch.ts';
import type { NetworkConfig } from './config.ts';
import { DEFAULT_CONFIG, gridOf } from './config.ts';
import { encodeInputs } from './features.ts';
import type { PolicyFile } from './policy_file.ts';
import { openPolicyFile, parsePolicyFile, replaceWeights } from './policy_file.ts';
import type { Feeds } from './session.ts';
import { loadRuntime, logitsOf, openSession, runSession, tensor } from './session.ts';
import { vocabularySize } from './tokens.ts';
import { encodeReply } from './vocabulary.ts';
import type { WeightTensor } from './weights.ts';

/** One reply to learn from. */
export interface ReplyInput {
  /** Row-major, 3 bytes a pixel. */
  rgb: Uint8Array;
  instruction: string;
  /** Earlier replies, oldest first. */
  history: readonly string[];
  /** All tokens of the reply. */
  tokens: Int32Array;
}

export interface TrainableOptions {
  threads?: number;
  /** Replies that go through the graphs together; more are cut up. */
  microBatch?: number;
}

/** What a micro-batch's backward pass needs. */
interface Kept {
  feeds: Feeds;
  results: Feeds;
  tokens: number;
}

/**
 * A policy file made trainable: its forward graph with weights as inputs, and the backward graph that reverse mode makes
 * of it, both run by onnxruntime. Fits any graph of supported operators with a policy's inputs and outputs.
 */
export class TrainableNetwork {
  readonly config: NetworkConfig;
  /** Width V of a row of logits. */
  readonly vocabulary: number;
  readonly #file: PolicyFile;
  readonly #microBatch: number;
  readonly #forward: InferenceSession;
  readonly #backward: InferenceSession;
  readonly #saved: string[];
  /** Tensors over the weights' own memory: a weight that is written is seen by the next run. */
  readonly #weightFeeds: Feeds;
  #kept: Kept[] = [];

  private constructor(file: PolicyFile, sessions: Sessions, microBatch: number) {
    this.#file = file;
    this.config = file.config ?? DEFAULT_CONFIG;
    this.vocabulary = vocabularySize(gridOf(this.config).cells);
    this.#microBatch = microBatch;
    this.#forward = sessions.forward;
    this.#backward = sessions.backward;
    this.#saved = sessions.saved;
    this.#weightFeeds = Object.fromEntries(
      [...file.weights].map(([name, { data, shape }]) => [name, tensor('float32', data, [...shape])]),
    );
  }

  /**
   * @param path an `.onnx` policy file, or a folder with a `policy.onnx`
   * @throws DartError for files that are no policies, and for operators that cannot be differentiated
   */
  static async open(path: string, options: TrainableOptions = {}): Promise<TrainableNetwork> {
    return TrainableNetwork.of(await openPolicyFile(path), options);
  }

  static async of(file: PolicyFile, options: TrainableOptions = {}): Promise<TrainableNetwork> {
    const threads = options.threads ?? 1;
    await loadRuntime();
    const { forward, backward, saved } = trainingGraphs(file);
    for (const name of saved) {
      forward.outputs.push(forward.values.get(name) ?? { name, dtype: 'float32', shape: null });
    }
    const sessions = {
      forward: await openSession(forward, { threads, where: file.path }),
      backward: await openSession(backward, { threads, where: `${file.path} (backward)` }),
      saved,
    };
    return new TrainableNetwork(file, sessions, options.microBatch ?? 16);
  }

  /** Name to tensor, in the file's order. Values are live: written through `setWeights`. */
  get weights(): ReadonlyMap<string, WeightTensor> {
    return this.#file.weights;
  }

  /**
   * Logits [tokens, V] of the replies' real tokens, one reply after another: row t of a reply is the distribution that
   * its token t is drawn from. Excluded entries are −∞.
   * @param options.gradient false: `backward` will not be called, and nothing is kept for it
   */
  async forward(batch: readonly ReplyInput[], options: { gradient?: boolean } = {}): Promise<Float32Array> {
    const kept: Kept[] = [];
    const parts: Float32Array[] = [];
    for (let from = 0; from < batch.length; from += this.#microBatch) {
      const part = await this.#runForward(batch.slice(from, from + this.#microBatch), options.gradient ?? true);
      kept.push(part);
      parts.push(part.results.logits!.data as Float32Array);
    }
    this.#kept = options.gradient === false ? [] : kept;
    return joined(parts);
  }

  async #runForward(batch: readonly ReplyInput[], gradient: boolean): Promise<Kept> {
    const empty = batch.findIndex(({ tokens }) => tokens.length === 0);
    if (empty >= 0) throw new DartError('a reply without tokens cannot be trained', { where: `reply ${empty}` });
    const encoded = batch.map((input) => encodeInputs(input, this.config));
    const replies = batch.map((input) => input.tokens);
    const feeds = { ...sceneFeeds(encoded, this.config), ...replyFeeds(replies, this.config), ...this.#weightFeeds };
    const { path } = this.#file;
    const results = await runSession(this.#forward, feeds, path, gradient ? undefined : ['logits']);
    logitsOf(results, this.vocabulary, path);
    return { feeds, results, tokens: feeds.rows!.dims[0]! };
  }

  /**
   * Gradients of all weights, given dloss/dlogits of the last `forward`, summed over its replies. A weight that the logits
   * do not depend on has none.
   */
  async backward(dlogits: Float32Array): Promise<Map<string, Float32Array>> {
    const expected = this.#kept.reduce((sum, { tokens }) => sum + tokens, 0) * this.vocabulary;
    if (expected === 0 || dlogits.length !== expected) {
      throw new RangeError(`backward got ${dlogits.length} numbers for the ${expected} logits of the last forward`);
    }
    const total = new Map<string, Float32Array>();
    let at = 0;
    for (const kept of this.#kept) {
      const end = at + kept.tokens * this.vocabulary;
      addInto(total, await this.#runBackward(kept, dlogits.subarray(at, end)));
      at = end;
    }
    this.#kept = [];
    return total;
  }

  async #runBackward(kept: Kept, dlogits: Float32Array): Promise<Map<string, Float32Array>> {
    const given: Feeds = { [gradientName('logits')]: tensor('float32', dlogits, [kept.tokens, this.vocabulary]) };
    for (const name of this.#backward.inputNames) given[name] ??= (kept.results[name] ?? kept.feeds[name])!;
    const results = await runSession(this.#backward, given, `${this.#file.path} (backward)`);
    return new Map(
      [...this.weights.keys()].flatMap((name) => {
        const result: Tensor | undefined = results[gradientName(name)];
        return result ? [[name, result.data as Float32Array] as const] : [];
      }),
    );
  }

  /** Copies values over the weights; a name that is left out stays as it was. Throws a DartError for other sizes. */
  setWeights(values: ReadonlyMap<string, Float32Array>): void {
    const all = new Map([...this.weights].map(([name, { data }]) => [name, values.get(name) ?? data]));
    replaceWeights(this.weights, all, this.#file.path);
  }

  /** Token ids of a reply; null where the vocabulary cannot spell it. */
  encodeReply(text: string): number[] | null {
    return encodeReply(text, this.config);
  }

  get saved(): readonly string[] {
    return this.#saved;
  }

  async close(): Promise<void> {
    this.#kept = [];
    await Promise.all([this.#forward.release(), this.#backward.release()]);
  }
}

/**
 * Finds out whether a policy file could be trained, without running anything.
 * @throws DartError for bytes that are no policy, and for operators that cannot be differentiated; `path` is where
 */
export function checkTrainable(bytes: Uint8Array, path: string): void {
  trainingGraphs(parsePolicyFile(bytes, path));
}

/** The forward graph with weights as inputs, the backward graph, and the results of the first that the second needs. */
function trainingGraphs(file: PolicyFile) {
  const forward = withWeightInputs(file);
  return { forward, ...differentiate(forward, { of: ['logits'], wrt: [...file.weights.keys()] }) };
}

interface Sessions {
  forward: InferenceSession;
  backward: InferenceSession;
  saved: string[];
}

/** The file's graph with its trainable initializers as inputs. */
function withWeightInputs(file: PolicyFile): Graph {
  const { graph, weights } = file;
  const inputs = [...weights].map(([name, { shape }]) => ({ name, dtype: 'float32' as const, shape: [...shape] }));
  return {
    ...graph,
    inputs: [...graph.inputs, ...inputs],
    outputs: [...graph.outputs],
    nodes: graph.nodes.map((node) => ({ ...node, outputs: [...node.outputs] })),
    values: new Map(graph.values),
    initializers: new Map([...graph.initializers].filter(([name]) => !weights.has(name))),
  };
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function addInto(total: Map<string, Float32Array>, part: ReadonlyMap<string, Float32Array>): void {
  for (const [name, values] of part) {
    const sum = total.get(name);
    if (!sum) {
      total.set(name, values);
      continue;
    }
    for (let i = 0; i < sum.length; i++) sum[i]! += values[i]!;
  }
}
