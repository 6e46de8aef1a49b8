import type { CommandContext, OptionValue } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { DartError } from '../../lib/errors.ts';
import type { LearnerSettings } from '../../lib/training/learner.ts';
import type { LocalSettings } from '../../lib/training/local_engine.ts';
import type { AdamSettings } from '../../lib/training/parameters.ts';
import {
  type LossName,
  OBJECTIVE_DEFAULTS,
  type Objective,
  type ObjectiveName,
  type PolicyObjective,
  type PresetName,
  resolveObjective,
} from '../../lib/training/presets.ts';
import type { TrainingConfig } from '../../lib/training/run.ts';
import type { ScheduleShape } from '../../lib/training/schedule.ts';
import { torchLearningRate } from '../../lib/training/torch/settings.ts';
import type { Device } from '../../native/index.ts';
import { MOST_BETA } from './option_limits.ts';

type Options = CommandContext['options'];

/** Typed looks at the resolved options; null where an option without default was not given. */
export function numberOf(options: Options, name: string): number | null {
  const value = options[name];
  return typeof value === 'number' ? value : null;
}

/** A text; null where it was not given or is empty. */
export function textOf(options: Options, name: string): string | null {
  const value = options[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** All settings of a run but the policy that it starts from and those of the engine. */
export type TrainSettings = Omit<TrainingConfig, 'baseSha256'>;

/** What `dart-train`'s options ask of the training room. */
export function trainingConfig(options: Options): TrainSettings {
  const defaults = defaultsOf(options);
  const limits = { maxUpdates: numberOf(options, 'max-updates'), maxSamples: numberOf(options, 'max-samples') };
  return {
    objective: objectiveOf(options),
    learner: learnerSettings(options, limits.maxUpdates),
    batchSamples: numberOf(options, 'batch-samples') ?? defaults.batch,
    batchGroups: numberOf(options, 'batch-groups'),
    limits,
    publishEvery: numberOf(options, 'publish-every') ?? defaults.publishEvery,
    minReward: options['all-outcomes'] === true ? null : numberOf(options, 'min-reward'),
  };
}

/** The engine that is asked for: a Hugging Face checkpoint is trained by PyTorch. */
export function engineOf(options: Options): 'onnx' | 'torch' {
  const named = textOf(options, 'engine');
  if (named !== null) return named as 'onnx' | 'torch';
  return textOf(options, 'policy')?.startsWith('hf:') ? 'torch' : 'onnx';
}

/** What objective and engine decide where no option says otherwise. */
export function defaultsOf(options: Options) {
  const objective = options.objective as ObjectiveName;
  const defaults = OBJECTIVE_DEFAULTS[objective];
  if (engineOf(options) === 'onnx') return defaults;
  return { ...defaults, lr: torchLearningRate(objective, (numberOf(options, 'lora') ?? 0) > 0) };
}

function learnerSettings(options: Options, maxUpdates: number | null): LearnerSettings {
  // The others read their whole input first, and know from it how many updates there will be.
  const online = options.objective === 'grpo';
  // Without it the schedule ends with --max-updates, less what the folder learned by other objectives.
  const total = numberOf(options, 'lr-total-updates');
  const shape = options['lr-schedule'] as ScheduleShape;
  if (online && shape !== 'constant' && total === null && maxUpdates === null) {
    throw new DartError(`--lr-schedule ${shape} needs to know how many updates there will be`, {
      hint: '--lr-total-updates N or --max-updates N',
    });
  }
  return {
    schedule: {
      shape,
      lr: numberOf(options, 'lr') ?? defaultsOf(options).lr,
      warmup: numberOf(options, 'lr-warmup') ?? 0,
      total,
      floor: numberOf(options, 'lr-floor') ?? 0,
    },
    minibatches: numberOf(options, 'minibatches')!,
    epochs: numberOf(options, 'epochs')!,
    maxBadUpdates: numberOf(options, 'max-bad-updates')!,
    seed: numberOf(options, 'seed') ?? 0,
  };
}

/** Of the optimiser, whichever engine has it. */
export function adamSettings(options: Options): AdamSettings {
  const [beta1, beta2] = betasOf(options.betas);
  const maxGradNorm = positive(options, 'max-grad-norm');
  return { beta1, beta2, epsilon: 1e-8, weightDecay: numberOf(options, 'weight-decay') ?? 0, maxGradNorm };
}

/** Of the onnx engine. @param device Of the kernels, as it was found. */
export function localSettings(options: Options, device: Device): Omit<LocalSettings, 'objective'> {
  return {
    adam: adamSettings(options),
    microBatch: numberOf(options, 'micro-batch')!,
    aggregationConstant: numberOf(options, 'aggregation-constant'),
    device,
  };
}

function objectiveOf(options: Options): Objective {
  if (options.objective === 'sft') return { kind: 'sft' };
  if (options.objective === 'grpo') return { kind: 'policy', policy: policyObjective(options) };
  checkPreferenceBatch(options);
  const beta = positive(options, 'preference-beta');
  if (options.objective === 'dpo') return { kind: 'dpo', beta };
  const weight = (name: string) => numberOf(options, name) ?? 1;
  const weights = { desirableWeight: weight('desirable-weight'), undesirableWeight: weight('undesirable-weight') };
  return { kind: 'kto', beta, ...weights };
}

/** An update of preferences is counted in what is never divided. */
function checkPreferenceBatch(options: Options): void {
  const unit = options.objective === 'dpo' ? 'pairs' : 'episodes';
  if (numberOf(options, 'batch-samples') !== null) {
    const message = `it counts steps, and ${options.objective} learns from whole ${unit}`;
    throw new DartError(message, { where: '--batch-samples', hint: `--batch-groups N, which counts ${unit}` });
  }
  if (options.objective === 'kto' && numberOf(options, 'batch-groups') === 1) {
    throw new DartError('kto measures an episode against another of its update, and so needs two or more', {
      where: '--batch-groups',
    });
  }
}

/** The policy objective: preset, variant, then what was asked for by name. */
export function policyObjective(options: Options): PolicyObjective {
  const number = (name: string) => numberOf(options, name) ?? undefined;
  const text = <T extends string>(name: string) => (textOf(options, name) as T | null) ?? undefined;
  const dualClip = number('dual-clip');
  const withoutTis = options['no-tis'] === true;
  if (withoutTis && number('tis-cap') !== undefined) {
    throw new DartError('--no-tis and --tis-cap exclude each other', { hint: 'one of them' });
  }
  return resolveObjective(options.preset as PresetName, options.loss as LossName, {
    clipLow: number('clip-low'),
    clipHigh: number('clip-high'),
    dualClip: dualClip === 0 ? null : dualClip,
    tisCap: withoutTis ? null : number('tis-cap'),
    tisLevel: text('tis-level'),
    tisMode: text('tis-mode'),
    klBeta: number('kl-beta'),
    klEstimator: text('kl-estimator'),
    entropyCoef: number('entropy-coef'),
    aggregation: text('aggregation'),
    keepEntropy: number('keep-entropy'),
  });
}

function positive(options: Options, name: string): number {
  const value = numberOf(options, name);
  if (value !== null && value > 0) return value;
  throw new UsageError(`expected a number above 0 but received '${value}'`, { where: `--${name}` });
}

function betasOf(value: OptionValue): [number, number] {
  const parts = String(value).split(',').map(Number);
  const fits = parts.length === 2 && parts.every((beta) => beta >= 0 && beta <= MOST_BETA);
  if (fits) return parts as [number, number];
  const message = `expected two numbers from 0 to ${MOST_BETA} but received '${value}'`;
  throw new UsageError(message, { where: '--betas', hint: '--betas 0.9,0.95' });
}
