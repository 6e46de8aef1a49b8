import { DartError } from '../../errors.ts';
import { Random } from '../../stream/random.ts';
import type { NetworkConfig } from './config.ts';
import { DEFAULT_CONFIG, gridOf } from './config.ts';
import type { Drawing } from './draw.ts';
import { draw } from './draw.ts';
import type { NetworkInput } from './features.ts';
import { encodeInputs } from './features.ts';
import type { Grammar } from './grammar.ts';
import { replyGrammar } from './grammar.ts';
import type { PolicyFile } from './policy_file.ts';
import { openPolicyFile, replaceWeights } from './policy_file.ts';
import { checkBegun } from './published.ts';
import type { Feeds } from './session.ts';
import { loadRuntime, tensor } from './session.ts';
import type { Stepper } from './stepper.ts';
import { CachedStepper, WholeStepper } from './stepper.ts';
import { vocabularySize } from './tokens.ts';
import { decodeReply } from './vocabulary.ts';

export interface SampleInput extends NetworkInput, Drawing {
  /** Same request, same seed, same weights: same reply, whatever else is in the batch. */
  seed: number;
  maxTokens?: number;
}

export interface SampleOutput {
  /** `Action: …`; empty where `maxTokens` cut the reply off. */
  text: string;
  tokenIds: number[];
  /** At the sampling temperature, over what the grammar allows. */
  logprobs: number[];
  /** Exact, in nats. */
  entropies: number[];
  finishReason: 'stop' | 'length';
  /** Version of the weights that made the tokens. */
  version: number;
}

export interface SamplerOptions {
  threads?: number;
  version?: number;
  /** Runs any network through its whole forward graph, as is done for those made elsewhere. */
  whole?: boolean;
}

interface Running {
  request: SampleInput;
  random: Random;
  output: SampleOutput;
  done: boolean;
}

/** Draws replies from a policy file, a batch at a time. One batch at a time: callers wait their turn. */
export class NetworkSampler {
  readonly config: NetworkConfig;
  readonly #file: PolicyFile;
  readonly #grammar: Grammar;
  readonly #stepper: Stepper;
  #version: number;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(file: PolicyFile, stepper: Stepper, version: number) {
    this.#file = file;
    this.config = file.config ?? DEFAULT_CONFIG;
    this.#grammar = replyGrammar(gridOf(this.config).cells, this.config.replyTokens);
    this.#stepper = stepper;
    this.#version = version;
  }

  /** @throws DartError as `openPolicyFile` and `checkBegun`, and where onnxruntime refuses the graph */
  static async open(path: string, options: SamplerOptions = {}): Promise<NetworkSampler> {
    return NetworkSampler.of(await openPolicyFile(path, checkBegun), options);
  }

  static async of(file: PolicyFile, options: SamplerOptions = {}): Promise<NetworkSampler> {
    await loadRuntime();
    const threads = options.threads ?? 1;
    // Tensors over the weights' own memory: new values need no new session.
    const weights: Feeds = Object.fromEntries(
      [...file.weights].map(([name, { data, shape }]) => [name, tensor('float32', data, [...shape])]),
    );
    const stepper =
      file.config && !options.whole
        ? await CachedStepper.open(file, file.config, () => weights, threads)
        : await WholeStepper.open(file, file.config ?? DEFAULT_CONFIG, () => weights, threads);
    return new NetworkSampler(file, stepper, options.version ?? 0);
  }

  get version(): number {
    return this.#version;
  }

  /** Answers with these weights from the next batch on. Rejects, and keeps the old ones, where one does not fit. */
  setWeights(values: ReadonlyMap<string, Float32Array>, version: number, where = 'new weights'): Promise<void> {
    return this.#inTurn(async () => {
      replaceWeights(this.#file.weights, values, where);
      this.#version = version;
    });
  }

  sample(requests: readonly SampleInput[]): Promise<SampleOutput[]> {
    return this.#inTurn(() => this.#sample(requests));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #sample(requests: readonly SampleInput[]): Promise<SampleOutput[]> {
    if (requests.length === 0) return [];
    const all = requests.map(
      (request): Running => ({
        request,
        random: new Random(request.seed),
        output: { text: '', tokenIds: [], logprobs: [], entropies: [], finishReason: 'stop', version: this.#version },
        done: false,
      }),
    );
    let active = all;
    let logits = await this.#stepper.begin(requests.map((request) => encodeInputs(request, this.config)));
    for (;;) {
      active.forEach((running, row) => {
        this.#advance(running, logits, row);
      });
      const keep = active.flatMap((running, place) => (running.done ? [] : [place]));
      if (keep.length === 0) return all.map((running) => running.output);
      active = keep.map((place) => active[place]!);
      logits = await this.#stepper.next(
        keep,
        active.map((running) => running.output.tokenIds.at(-1)!),
      );
    }
  }

  #advance(running: Running, logits: Float32Array, row: number): void {
    const { request, output, random } = running;
    const width = vocabularySize(gridOf(this.config).cells);
    const drawn = this.#draw(logits, row * width, output.tokenIds, request, random);
    output.tokenIds.push(drawn.token);
    output.logprobs.push(drawn.logprob);
    output.entropies.push(drawn.entropy);
    if (this.#grammar.next(output.tokenIds).length === 0) {
      running.done = true;
      output.text = decodeReply(output.tokenIds, this.config);
    } else if (output.tokenIds.length >= (request.maxTokens ?? this.config.replyTokens)) {
      running.done = true;
      output.finishReason = 'length';
    }
  }

  #draw(logits: Float32Array, start: number, reply: readonly number[], request: SampleInput, random: Random) {
    try {
      return draw(logits, start, this.#grammar.next(reply), request, random);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new DartError(cause.message, {
        where: `${this.#file.path}, version ${this.#version}`,
        hint: 'go back to an earlier version; these weights are broken',
        cause,
      });
    }
  }

  async close(): Promise<void> {
    await this.#inTurn(() => this.#stepper.close());
  }
}
