import type { InferenceSession } from 'onnxruntime-node';
import { replyFeeds, sceneFeeds } from './batch.ts';
import type { NetworkConfig } from './config.ts';
import { gridOf, prefixLength } from './config.ts';
import type { EncodedInput } from './features.ts';
import { CARRIED, cacheNames, encodeGraph, stepGraph } from './graphs.ts';
import type { PolicyFile } from './policy_file.ts';
import type { Feeds } from './session.ts';
import { logitsOf, openSession, runSession, tensor } from './session.ts';
import { bosToken, vocabularySize } from './tokens.ts';

/** Gives logits [requests, V] token by token for a batch of requests of which some end early. */
export interface Stepper {
  begin(inputs: readonly EncodedInput[]): Promise<Float32Array>;
  /**
   * @param keep places, in the last batch, of the requests that go on
   * @param tokens the token that each of those took
   */
  next(keep: readonly number[], tokens: readonly number[]): Promise<Float32Array>;
  close(): Promise<void>;
}

/** A tensor's rows at the given places of its first axis. */
function rowsOf(value: Feeds[string], keep: readonly number[]): Feeds[string] {
  const dims = [...value.dims];
  if (keep.length === dims[0] && keep.every((place, i) => place === i)) return value;
  const data = value.data as Float32Array | Int32Array;
  const size = data.length / dims[0]!;
  const picked =
    data instanceof Float32Array ? new Float32Array(keep.length * size) : new Int32Array(keep.length * size);
  keep.forEach((place, i) => {
    picked.set(data.subarray(place * size, (place + 1) * size), i * size);
  });
  return tensor(value.type as 'float32' | 'int32', picked, [keep.length, ...dims.slice(1)]);
}

/** Reads the scene once, then one token at a time with the keys and values of what came before. */
export class CachedStepper implements Stepper {
  readonly #config: NetworkConfig;
  readonly #encode: InferenceSession;
  readonly #step: InferenceSession;
  readonly #weights: () => Feeds;
  #carried: Feeds = {};
  #place = 0;

  private constructor(config: NetworkConfig, encode: InferenceSession, step: InferenceSession, weights: () => Feeds) {
    this.#config = config;
    this.#encode = encode;
    this.#step = step;
    this.#weights = weights;
  }

  static async open(
    file: PolicyFile,
    config: NetworkConfig,
    weights: () => Feeds,
    threads: number,
  ): Promise<CachedStepper> {
    const encode = await openSession(encodeGraph(config, file.frozen), { threads, where: 'encode graph' });
    const step = await openSession(stepGraph(config), { threads, where: 'step graph' });
    return new CachedStepper(config, encode, step, weights);
  }

  async begin(inputs: readonly EncodedInput[]): Promise<Float32Array> {
    const { cells } = gridOf(this.#config);
    const scene = sceneFeeds(inputs, this.#config);
    const reply = tensor('int32', new Int32Array(inputs.length).fill(bosToken(cells)), [inputs.length, 1]);
    const feeds = { ...only(this.#encode, this.#weights()), ...scene, reply };
    const results = await runSession(this.#encode, feeds, 'encode graph');
    this.#carried = { words: scene.words! };
    for (const name of CARRIED) this.#carried[name] = results[name]!;
    for (const name of this.#cacheNames()) this.#carried[name] = results[name]!;
    this.#place = prefixLength(this.#config) + 1;
    return results.logits!.data as Float32Array;
  }

  async next(keep: readonly number[], tokens: readonly number[]): Promise<Float32Array> {
    for (const [name, value] of Object.entries(this.#carried)) this.#carried[name] = rowsOf(value, keep);
    const token = tensor('int32', Int32Array.from(tokens), [tokens.length, 1]);
    const place = tensor('int32', Int32Array.of(this.#place), [1]);
    const feeds = { ...only(this.#step, this.#weights()), ...this.#carried, token, place };
    const results = await runSession(this.#step, feeds, 'step graph');
    for (const name of this.#cacheNames()) this.#carried[name] = results[`next.${name}`]!;
    this.#place++;
    return results.logits!.data as Float32Array;
  }

  #cacheNames(): string[] {
    return Array.from({ length: this.#config.layers }, (_, layer) => Object.values(cacheNames(layer))).flat();
  }

  async close(): Promise<void> {
    await Promise.all([this.#encode.release(), this.#step.release()]);
  }
}

/** Those feeds that a graph has inputs for. */
function only(session: InferenceSession, feeds: Feeds): Feeds {
  return Object.fromEntries(session.inputNames.flatMap((name) => (feeds[name] ? [[name, feeds[name]]] : [])));
}

/** For networks made elsewhere: the whole forward graph again for every token. */
export class WholeStepper implements Stepper {
  readonly #where: string;
  readonly #config: NetworkConfig;
  readonly #session: InferenceSession;
  readonly #weights: () => Feeds;
  #inputs: EncodedInput[] = [];
  #replies: number[][] = [];

  private constructor(where: string, config: NetworkConfig, session: InferenceSession, weights: () => Feeds) {
    this.#where = where;
    this.#config = config;
    this.#session = session;
    this.#weights = weights;
  }

  static async open(
    file: PolicyFile,
    config: NetworkConfig,
    weights: () => Feeds,
    threads: number,
  ): Promise<WholeStepper> {
    const { graph } = file;
    const inputs = [...file.weights].map(([name, { shape }]) => ({
      name,
      dtype: 'float32' as const,
      shape: [...shape],
    }));
    const initializers = new Map([...graph.initializers].filter(([name]) => !file.weights.has(name)));
    const model = { ...graph, inputs: [...graph.inputs, ...inputs], initializers };
    return new WholeStepper(file.path, config, await openSession(model, { threads, where: file.path }), weights);
  }

  async begin(inputs: readonly EncodedInput[]): Promise<Float32Array> {
    this.#inputs = [...inputs];
    this.#replies = inputs.map(() => []);
    return this.#run();
  }

  async next(keep: readonly number[], tokens: readonly number[]): Promise<Float32Array> {
    this.#inputs = keep.map((place) => this.#inputs[place]!);
    this.#replies = keep.map((place, i) => [...this.#replies[place]!, tokens[i]!]);
    return this.#run();
  }

  async #run(): Promise<Float32Array> {
    // The token that is asked for stands last; its own value is never read.
    const { reply } = replyFeeds(
      this.#replies.map((tokens) => [...tokens, 0]),
      this.#config,
    );
    const length = reply!.dims[1]!;
    const last = Int32Array.from(this.#inputs, (_, i) => i * length + length - 1);
    const rows = tensor('int32', last, [last.length]);
    const feeds = { ...this.#weights(), ...sceneFeeds(this.#inputs, this.#config), reply: reply!, rows };
    const results = await runSession(this.#session, feeds, this.#where);
    return logitsOf(results, vocabularySize(gridOf(this.#config).cells), this.#where);
  }

  async close(): Promise<void> {
    await this.#session.release();
  }
}
