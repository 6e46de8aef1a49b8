import { addStatistics, type Device, logpEntropy, type PolicyStatistics } from '../../native/index.ts';
import { readSafetensors, writeSafetensors } from '../policy/network/safetensors.ts';
import type { Batch, Engine, StepResult, StepSettings } from './engine.ts';
import type { Example } from './examples.ts';
import type { FrameCache } from './frames.ts';
import type { TrainMetrics } from './metrics.ts';
import type { TrainableModel } from './model.ts';
import { type AdamSettings, Parameters } from './parameters.ts';
import { inputsOf, lossAndGradient, microBatches, scorePass } from './passes.ts';
import { preferenceLoss, type ReplyScores } from './preference_loss.ts';
import type { Objective } from './presets.ts';
import { tokenScales } from './scales.ts';
import type { TrainerState } from './state.ts';
import { readVersionFile, writeVersionFile } from './versions.ts';

export interface LocalSettings {
  objective: Objective;
  adam: AdamSettings;
  /** Examples that go through the model together. */
  microBatch: number;
  /** Divisor of the `constant` aggregation; null is the longest reply of the optimiser step. */
  aggregationConstant: number | null;
  /** Where loss, log-probabilities and optimiser are computed; the model decides for itself. Default `cpu`. */
  device?: Device;
}

export interface LocalSurroundings {
  frames: Pick<FrameCache, 'get'>;
  /** The frozen policy of the KL term and of preferences; null where `needsReference` says no. */
  reference: TrainableModel | null;
}

/** Trains a model in this process: the model gives logits and gradients, the kernels do the rest. */
export class LocalEngine implements Engine {
  readonly model: TrainableModel;
  readonly parameters: Parameters;
  readonly #settings: LocalSettings;
  readonly #frames: Pick<FrameCache, 'get'>;
  readonly #reference: TrainableModel | null;

  constructor(model: TrainableModel, settings: LocalSettings, { frames, reference }: LocalSurroundings) {
    this.model = model;
    this.parameters = new Parameters(model);
    this.#settings = settings;
    this.#frames = frames;
    this.#reference = reference;
  }

  get optimizerSteps(): number {
    return this.parameters.step;
  }

  encodeReply(text: string) {
    return this.model.encodeReply(text);
  }

  isReply(ids: readonly number[]): boolean {
    return this.model.isReply(ids);
  }

  async measure(examples: readonly Example[]): Promise<Float64Array> {
    const { microBatch, device } = this.#settings;
    const scores = await scorePass(this.model, examples, this.#frames, microBatch, device);
    examples.forEach((example, i) => {
      example.oldLogp = scores[i]!.logp;
    });
    return Float64Array.from(scores, ({ entropy }) => entropy.reduce((sum, h) => sum + h, 0) / entropy.length);
  }

  async scoreOld(examples: readonly Example[]): Promise<void> {
    await this.measure(examples.filter((example) => example.oldLogp === null));
  }

  async step(batch: Batch, { lr, onPolicy }: StepSettings): Promise<StepResult> {
    const plan = await this.#plan(batch);
    const statistics = plan && (await this.#gradient(plan.examples, plan.scales, onPolicy));
    if (!plan || !statistics) return notApplied();
    const { applied, gradNorm } = this.parameters.update(this.#settings.adam, lr, this.#settings.device);
    return { applied, loss: plan.loss ?? statistics.loss, gradNorm, statistics, more: plan.metrics };
  }

  remember(): () => void {
    return this.parameters.remember();
  }

  async save(folder: string, { updates }: TrainerState): Promise<void> {
    const { parameters } = this;
    const weights = writeSafetensors(parameters.tensors(), { version: String(updates) });
    const moments = writeSafetensors(parameters.moments(), { step: String(parameters.step) });
    await writeVersionFile(folder, 'weights.safetensors', weights);
    await writeVersionFile(folder, 'optimizer.safetensors', moments);
  }

  async restore(folder: string, state: TrainerState): Promise<void> {
    const read = (name: string) => readSafetensors(readVersionFile(folder, name), `${folder}/${name}`).tensors;
    this.parameters.restore(read('weights.safetensors'), folder);
    this.parameters.restoreMoments(read('optimizer.safetensors'), state.optimizer_step, folder);
  }

  async close(): Promise<void> {
    await this.model.close();
    await this.#reference?.close();
  }

  /** What the tokens of one optimiser step weigh; null where preferences have a log-probability that is not finite. */
  async #plan(batch: Batch): Promise<Plan | null> {
    const { objective, aggregationConstant, device } = this.#settings;
    if (batch.kind === 'dpo' || batch.kind === 'kto') {
      return preferenceLoss(batch, objective, (examples) => this.#scoreReplies(examples), device);
    }
    const examples = batch.units;
    const lengths = examples.map((example) => example.tokens.length);
    const aggregation = objective.kind === 'policy' ? objective.policy.aggregation : 'token-mean';
    return { examples, scales: tokenScales(lengths, aggregation, aggregationConstant) };
  }

  async #scoreReplies(examples: readonly Example[]): Promise<ReplyScores> {
    const { microBatch, device } = this.#settings;
    const of = async (model: TrainableModel) =>
      (await scorePass(model, examples, this.#frames, microBatch, device)).map(({ logp }) => replyLogp(logp));
    return { policy: await of(this.model), reference: await of(this.#frozen()) };
  }

  #frozen(): TrainableModel {
    if (!this.#reference) throw new Error('this objective needs a reference policy');
    return this.#reference;
  }

  /**
   * Fills the parameters' gradient from one optimiser step's examples.
   * @returns the sums over its tokens; null where the loss was not finite.
   */
  async #gradient(
    examples: readonly Example[],
    scales: ArrayLike<number>,
    onPolicy: boolean,
  ): Promise<PolicyStatistics | null> {
    const { objective, microBatch, device } = this.#settings;
    const policy = objective.kind === 'policy' ? objective.policy : null;
    const parts: PolicyStatistics[] = [];
    this.parameters.clearGradient();
    for (const { indices, temperature } of microBatches(examples, microBatch)) {
      const batch = { examples: indices.map((i) => examples[i]!), scales: indices.map((i) => scales[i]!), temperature };
      const inputs = inputsOf(batch.examples, this.#frames);
      const refLogp = await this.#referenceLogp(inputs, temperature);
      const logits = await this.model.forward(inputs);
      const how = { ...batch, objective: policy ?? ('sft' as const), onPolicy, refLogp, device };
      const sums = lossAndGradient(logits, this.model.vocabulary, how);
      if (sums.nonfinite > 0) return null;
      parts.push(sums);
      this.parameters.addGradient(await this.model.backward(logits));
    }
    return addStatistics(parts);
  }

  async #referenceLogp(inputs: ReturnType<typeof inputsOf>, temperature: number): Promise<Float32Array | null> {
    const { objective, device } = this.#settings;
    if (objective.kind !== 'policy' || objective.policy.klBeta === 0) return null;
    const logits = await this.#frozen().forward(inputs, { gradient: false });
    const target = Int32Array.from(inputs.flatMap(({ tokens }) => [...tokens]));
    const { vocabulary } = this.model;
    return logpEntropy({ logits, vocabulary, target, temperature, nonfinite: 'count', device }).logp;
  }
}

interface Plan {
  examples: readonly Example[];
  /** Of each example's tokens. */
  scales: ArrayLike<number>;
  /** Where it is no sum over tokens. */
  loss?: number;
  metrics?: TrainMetrics;
}

/** Log-probability of a whole reply; a token that the policy excludes is unscored, as in the pass with gradient. */
function replyLogp(logp: Float32Array): number {
  return logp.reduce((sum, value) => (value === Number.NEGATIVE_INFINITY ? sum : sum + value), 0);
}

function notApplied(): StepResult {
  return { applied: false, loss: Number.NaN, gradNorm: Number.NaN, statistics: addStatistics([]) };
}
