import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { DartError } from '../errors.ts';
import type { Size } from '../guest/guest.ts';
import { readVersionWeights } from './network/published.ts';
import { readSafetensors } from './network/safetensors.ts';
import type { SampleInput, SampleOutput } from './network/sampler.ts';
import { NetworkSampler } from './network/sampler.ts';
import type { Policy, PolicyReply, PolicyRequest } from './policy.ts';

export interface OnnxPolicyOptions {
  /** Threads inside operators; one is best where several workers share the cores. */
  threads?: number;
  /** Most requests that go through the network together. */
  maxBatch?: number;
  /** Version of the weights in the file. */
  version?: number;
}

const latestSchema = z.object({ version: z.number().int(), path: z.string() });

interface Waiting {
  input: SampleInput;
  signal: AbortSignal | undefined;
  resolve(output: SampleOutput): void;
  reject(error: unknown): void;
}

/**
 * The embedded policy, one worker. Requests that arrive while a batch is running make up the next one; a lone request
 * does not wait for company. A new version is taken between batches.
 *
 * onnxruntime-node computes on the thread that calls it, and lets the event loop turn between a batch's tokens. Several
 * workers of one process therefore take turns on one core, which serves for changing versions one worker at a time;
 * more cores are used by more processes, or by `threads`.
 */
export class OnnxPolicy implements Policy {
  readonly name: string;
  readonly coordinates = 'absolute';
  readonly #sampler: NetworkSampler;
  readonly #maxBatch: number;
  readonly #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  private constructor(name: string, sampler: NetworkSampler, maxBatch: number) {
    this.name = name;
    this.#sampler = sampler;
    this.#maxBatch = maxBatch;
  }

  /**
   * @param path an `.onnx` file, or a published folder, whose latest version is then taken
   * @throws DartError for a missing or broken file
   */
  static async open(path: string, options: OnnxPolicyOptions = {}): Promise<OnnxPolicy> {
    const sampler = await NetworkSampler.open(path, { threads: options.threads, version: options.version });
    const policy = new OnnxPolicy(`onnx:${basename(path)}`, sampler, options.maxBatch ?? 16);
    const latest = await latestVersion(path);
    if (latest) await policy.load(latest.version, latest.path);
    return policy;
  }

  get version(): number {
    return this.#sampler.version;
  }

  get screen(): Size {
    return this.#sampler.config.screen;
  }

  async act(request: PolicyRequest): Promise<PolicyReply> {
    const where = request.task.task_id;
    const frame = request.frames.at(-1);
    if (!frame) throw new DartError('there is no screenshot to act on', { where });
    const { width, height } = this.screen;
    // Told of here, since in the network it would fail a whole batch.
    if (frame.width !== width || frame.height !== height) {
      const sizes = `the screen has ${frame.width}×${frame.height} pixels, and the policy reads ${width}×${height}`;
      throw new DartError(sizes, { where, hint: 'embedded desktops, or another policy' });
    }
    const { sampling } = request;
    const input: SampleInput = {
      rgb: frame.rgb(),
      instruction: request.instruction,
      history: request.history,
      seed: request.seed,
      temperature: sampling.temperature,
      topP: sampling.top_p,
      topK: sampling.top_k,
      maxTokens: sampling.max_tokens,
    };
    const output = await this.#enqueue(input, request.signal);
    return {
      text: output.text,
      tokenIds: output.tokenIds,
      logprobs: output.logprobs,
      entropies: output.entropies,
      finishReason: output.finishReason,
      modelVersion: output.version,
    };
  }

  #enqueue(input: SampleInput, signal?: AbortSignal): Promise<SampleOutput> {
    if (this.#closed) return Promise.reject(new DartError('this policy worker is closed', { where: this.name }));
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ input, signal, resolve, reject });
      this.#running ??= this.#work();
    });
  }

  async #work(): Promise<void> {
    // Requests of the same turn of the event loop travel together.
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) {
      const batch = this.#take();
      try {
        const outputs = await this.#sampler.sample(batch.map(({ input }) => input));
        batch.forEach(({ resolve }, i) => {
          resolve(outputs[i]!);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#running = null;
  }

  /** The next batch; those who no longer wait are sent away. */
  #take(): Waiting[] {
    const batch: Waiting[] = [];
    while (this.#waiting.length > 0 && batch.length < this.#maxBatch) {
      const next = this.#waiting.shift()!;
      if (next.signal?.aborted) next.reject(next.signal.reason);
      else batch.push(next);
    }
    return batch;
  }

  /**
   * Answers with a published version from the next batch on; keeps the old one where it cannot be read.
   * @param path the version's folder, with a `weights.safetensors`
   * @throws DamagedFile where its bytes are not those that were written
   */
  async load(version: number, path: string): Promise<void> {
    const { bytes, path: file } = await readVersionWeights(path);
    const { tensors } = readSafetensors(bytes, file);
    const values = new Map([...tensors].map(([name, { data }]) => [name, data]));
    await this.#sampler.setWeights(values, version, file);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
    await this.#sampler.close();
  }
}

/** What `latest.json` of a published folder points to; null for anything else. */
async function latestVersion(path: string): Promise<{ version: number; path: string } | null> {
  const file = join(path, 'latest.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return null;
  }
  try {
    const { version, path: folder } = latestSchema.parse(JSON.parse(text));
    return { version, path: resolve(path, folder) };
  } catch (cause) {
    throw new DartError('it does not say which version is the latest', {
      where: file,
      hint: 'name a policy file instead of the folder, or publish again',
      cause,
    });
  }
}
