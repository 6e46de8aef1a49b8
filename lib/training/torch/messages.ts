import { existsSync } from 'node:fs';
import { z } from 'zod';
import { libraryPaths } from '../../../native/index.ts';
import type { Objective } from '../presets.ts';
import type { TorchModelSettings, TorchSettings } from './settings.ts';

/** The request `open`: which checkpoint to load, and what to do with it. Field names are those of native/torch. */
export function openRequest(
  settings: TorchSettings,
  objective: Objective,
  place: { checkpoint: string; blobs: string },
) {
  const { adam, model, seed } = settings;
  const { cpu, cuda } = libraryPaths();
  return {
    do: 'open',
    checkpoint: place.checkpoint,
    blobs: place.blobs,
    objective: objectiveMessage(objective, settings.aggregationConstant),
    model: modelMessage(model),
    optimizer: {
      beta1: adam.beta1,
      beta2: adam.beta2,
      epsilon: adam.epsilon,
      weight_decay: adam.weightDecay,
      max_grad_norm: adam.maxGradNorm,
    },
    seed,
    kernels: { cpu, cuda: existsSync(cuda) ? cuda : null },
  };
}

function objectiveMessage(objective: Objective, aggregationConstant: number | null): object {
  if (objective.kind === 'sft') return { sft: {} };
  if (objective.kind === 'dpo') return { dpo: { beta: objective.beta } };
  if (objective.kind === 'kto') {
    const { beta, desirableWeight, undesirableWeight } = objective;
    return { kto: { beta, desirable_weight: desirableWeight, undesirable_weight: undesirableWeight } };
  }
  const { policy } = objective;
  return {
    surrogate: policy.surrogate,
    clip_low: policy.clipLow,
    clip_high: policy.clipHigh,
    dual_clip: policy.dualClip,
    tis_cap: policy.tisCap,
    tis_level: policy.tisLevel,
    tis_mode: policy.tisMode,
    kl_beta: policy.klBeta,
    kl_estimator: policy.klEstimator,
    entropy_coef: policy.entropyCoef,
    aggregation: policy.aggregation,
    aggregation_constant: aggregationConstant,
  };
}

function modelMessage(model: TorchModelSettings): object {
  const pixels = { min_pixels: model.minPixels, max_pixels: model.maxPixels };
  return {
    dtype: model.dtype,
    lora: model.lora,
    freeze_vision: model.freezeVision,
    gradient_checkpointing: model.gradientCheckpointing,
    reference: model.reference,
    attention: model.attention,
    packed: model.packed,
    micro_tokens: model.microTokens,
    head_chunk: model.headChunk,
    max_length: model.maxLength,
    offload: model.offload,
    ...Object.fromEntries(Object.entries(pixels).filter(([, value]) => value !== null)),
  };
}

/** JSON has no word for NaN and infinity: null stands for them. */
const number = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN);

/** What the ranks answer, by request. */
export const answers = {
  open: z.looseObject({
    parameters: z.number(),
    trainable: z.number(),
    vocabulary: z.number().int().positive(),
    world_size: z.number().int().positive(),
    device: z.string(),
    backend: z.string(),
    dtype: z.string(),
    memory_bytes: z.number().nullish(),
  }),
  score: z.looseObject({ entropy: z.array(number), tokens: z.array(z.number()) }),
  step: z.looseObject({
    applied: z.boolean(),
    loss: number,
    grad_norm: number,
    statistics: z.record(z.string(), number),
    more: z.record(z.string(), z.number().nullable()).nullish(),
    seconds: z.record(z.string(), z.number()).nullish(),
    memory_bytes: z.number().nullish(),
  }),
  save: z.looseObject({ files: z.array(z.string()) }),
  restore: z.unknown(),
};

/** What a rank says of an error. `rank` is null where another one is the cause that cannot speak any more. */
export const faultSchema = z.looseObject({
  rank: z.number().nullish(),
  kind: z.string(),
  where: z.string().nullish(),
  message: z.string(),
  trace: z.string().nullish(),
});
export type RankFault = z.infer<typeof faultSchema>;

/** A line that rank 0 writes. */
export const lineSchema = z.union([
  z.looseObject({ event: z.string(), do: z.string().nullish(), done: z.number().nullish(), of: z.number().nullish() }),
  z.looseObject({ id: z.number().nullable(), ok: z.unknown().optional(), error: faultSchema.optional() }),
]);
