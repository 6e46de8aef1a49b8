import type { Coordinates } from '../../policy/policy.ts';
import type { AdamSettings } from '../parameters.ts';
import { type ObjectiveName, PRESETS } from '../presets.ts';

/** Low-rank adapters beside frozen weights (Hu et al., 2021). What they add is scaled by alpha / rank. */
export interface LoraSettings {
  rank: number;
  alpha: number;
  dropout: number;
  /** Names of linear layers, or all of them but the head. */
  targets: 'all-linear' | string[];
}

/** Where log-probabilities of the reference come from. */
export type ReferencePolicy = 'lora-off' | 'copy' | 'none';

export interface TorchModelSettings {
  /** What is computed in; trained weights are kept in float32. */
  dtype: 'bfloat16' | 'float32';
  /** Null trains all weights. */
  lora: LoraSettings | null;
  freezeVision: boolean;
  gradientCheckpointing: boolean;
  reference: ReferencePolicy;
  attention: 'sdpa' | 'flash_attention_2' | 'eager';
  packed: boolean;
  /** Most tokens of a micro-batch, on one rank. */
  microTokens: number;
  /** Rows whose logits exist at a time. */
  headChunk: number;
  /** Longest prompt and reply together, tokens. */
  maxLength: number;
  /** Keep weights and moments in the host's memory between uses. */
  offload: boolean;
  /** Of the image processor; null is as the checkpoint says. */
  minPixels: number | null;
  maxPixels: number | null;
}

/** How the ranks are started. */
export interface LaunchSettings {
  /** The Python program. */
  python: string;
  /** Ranks on this machine: a number, or `gpu` for one a GPU. */
  nproc: string;
  nnodes: number;
  /** `HOST:PORT` of the first machine, where there are several. */
  rendezvous: string | null;
  /** Threads of each rank on the CPU. */
  threads: number;
  /** For starting and loading the checkpoint. */
  startTimeoutMs: number;
}

/** All that the torch engine is told beside the objective. */
export interface TorchSettings {
  model: TorchModelSettings;
  launch: LaunchSettings;
  adam: AdamSettings;
  /** Divisor of the `constant` aggregation; null is the longest reply of the optimiser step. */
  aggregationConstant: number | null;
  /** How the policy writes places: it is part of the prompt. */
  coordinates: Coordinates;
  seed: number;
}

/**
 * Learning rates for all weights of a 7B model: grpo as the presets have it (both papers train at 1e-6), sft as the common
 * recipes for Qwen2-VL do, dpo and kto as Zephyr's (Tunstall et al., 2023).
 */
const FULL_LR: Readonly<Record<ObjectiveName, number>> = { grpo: PRESETS.dart.lr7b, sft: 1e-5, dpo: 5e-7, kto: 5e-7 };

/** LoRA learns best at ten times the rate of full training, whatever its rank (Schulman et al., "LoRA Without Regret", 2025). */
const LORA_FACTOR = 10;

/** The learning rate of this engine where none is given. */
export function torchLearningRate(objective: ObjectiveName, lora: boolean): number {
  // Through text, so that ten times 1e-6 is 1e-5 and no number beside it.
  return lora ? Number((FULL_LR[objective] * LORA_FACTOR).toPrecision(6)) : FULL_LR[objective];
}
