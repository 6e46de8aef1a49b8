import type { OptionSpec } from '../../lib/cli/spec.ts';
import { LARGEST, MANY, SECONDS, WEIGHT } from './option_limits.ts';
import { TORCH_OPTIONS } from './torch_options.ts';

/** Options of `dart-train`, by what they are about. Nothing heavy may be imported here: `--help` reads it. */
const input: OptionSpec[] = [
  {
    name: 'policy',
    type: 'string',
    value: 'onnx:FILE|hf:DIR',
    describe:
      'Policy to start from: an ONNX file or published folder, or a Hugging Face checkpoint (torch engine); not needed where --publish DIR holds a run to go on with',
  },
  {
    name: 'init-from',
    type: 'string',
    value: 'FILE|DIR',
    describe: 'Start with these weights instead of those in the policy file: safetensors, or a published folder',
  },
  {
    name: 'blobs',
    type: 'string',
    value: 'DIR',
    describe: 'Folder of the screenshots (default: $XDG_STATE_HOME/dart/blobs)',
  },
  { name: 'follow', type: 'boolean', describe: 'Go on reading files that grow, until told to stop' },
  {
    name: 'all-outcomes',
    type: 'boolean',
    describe: 'sft: imitate failures too, not only trajectories that reached --min-reward (for noisy experts)',
  },
  {
    name: 'min-reward',
    type: 'number',
    value: 'R',
    min: 0,
    max: 1,
    default: 1,
    describe: 'sft: least reward of a trajectory that is imitated',
  },
];

const objective: OptionSpec[] = [
  {
    name: 'objective',
    type: 'string',
    choices: ['grpo', 'sft', 'dpo', 'kto'],
    default: 'grpo',
    describe: 'What is minimised; dpo and kto learn from what dart-curate pairs makes',
  },
  {
    name: 'preset',
    type: 'string',
    choices: ['dart', 'arpo', 'grpo'],
    default: 'dart',
    describe: 'Settings that the options of this group change one by one',
  },
  {
    name: 'loss',
    type: 'string',
    choices: ['grpo', 'gspo', 'cispo', 'dr_grpo', 'dapo'],
    default: 'grpo',
    describe: 'Variant laid over the preset: gspo and cispo change ratio and clips, dr_grpo the mean, dapo both',
  },
  {
    name: 'keep-entropy',
    type: 'number',
    value: 'SHARE',
    min: 0,
    max: 1,
    describe: 'Share of each group’s steps that is kept, those of highest entropy; 1 keeps all (dart: 0.8)',
  },
  { name: 'clip-low', type: 'number', value: 'E', min: 0, max: 1, describe: 'Lower clip: 1 − E (0.2)' },
  {
    name: 'clip-high',
    type: 'number',
    value: 'E',
    min: 0,
    max: LARGEST,
    describe: 'Upper clip: 1 + E (dart 0.28, arpo 0.3, grpo 0.2)',
  },
  {
    name: 'dual-clip',
    type: 'number',
    value: 'C',
    min: 0,
    max: LARGEST,
    describe: 'Dual clip at A < 0; 0 is off (arpo 3)',
  },
  { name: 'no-tis', type: 'boolean', describe: 'No truncated importance weights: w = 1' },
  {
    name: 'tis-cap',
    type: 'number',
    value: 'C',
    min: 0,
    max: LARGEST,
    describe: 'Cap of the importance weight (dart 1; else off)',
  },
  { name: 'tis-level', type: 'string', choices: ['token', 'sequence'], describe: 'One weight a token, or a reply' },
  { name: 'tis-mode', type: 'string', choices: ['truncate', 'mask'], describe: 'Above the cap: the cap, or 0' },
  {
    name: 'kl-beta',
    type: 'number',
    value: 'B',
    min: 0,
    max: WEIGHT,
    describe: 'Weight of the KL term; 0 is off (dart 0.1)',
  },
  { name: 'kl-estimator', type: 'string', choices: ['k1', 'k2', 'k3'], describe: 'Estimator of the KL term (k3)' },
  {
    name: 'entropy-coef',
    type: 'number',
    value: 'C',
    min: 0,
    max: WEIGHT,
    describe: 'Weight of the entropy bonus (0)',
  },
  {
    name: 'aggregation',
    type: 'string',
    choices: ['token-mean', 'sequence-mean', 'constant'],
    describe: 'What the mean is over (dart sequence-mean, else token-mean)',
  },
  {
    name: 'aggregation-constant',
    type: 'number',
    value: 'L',
    min: 1,
    max: MANY,
    describe: 'Length that `constant` divides by; without it the longest reply of the minibatch',
  },
  {
    name: 'preference-beta',
    type: 'number',
    value: 'B',
    min: 0,
    max: WEIGHT,
    default: 0.1,
    describe: 'dpo, kto: how closely the policy is held to the one that training began with',
  },
  {
    name: 'desirable-weight',
    type: 'number',
    value: 'W',
    min: 0,
    max: WEIGHT,
    default: 1,
    describe: 'kto: weight of desirable episodes',
  },
  {
    name: 'undesirable-weight',
    type: 'number',
    value: 'W',
    min: 0,
    max: WEIGHT,
    default: 1,
    describe: 'kto: weight of undesirable episodes',
  },
];

const optimiser: OptionSpec[] = [
  {
    name: 'lr',
    type: 'number',
    value: 'RATE',
    min: 0,
    max: WEIGHT,
    describe:
      'Peak learning rate; without it 2e-4, sft 1e-3, dpo 1e-4, kto 3e-5 (right for the embedded policy); of the torch engine 1e-6, sft 1e-5, dpo and kto 5e-7, with --lora ten times that',
  },
  {
    name: 'lr-schedule',
    type: 'string',
    choices: ['constant', 'linear', 'cosine'],
    default: 'constant',
    describe: 'Course of the learning rate after the warm-up',
  },
  { name: 'lr-warmup', type: 'integer', value: 'N', min: 0, default: 0, describe: 'Updates of warm-up' },
  { name: 'lr-floor', type: 'number', value: 'SHARE', min: 0, max: 1, default: 0, describe: 'Share of lr at the end' },
  {
    name: 'lr-total-updates',
    type: 'integer',
    value: 'N',
    min: 1,
    describe:
      'Where linear and cosine end; without it --max-updates, and for sft, dpo and kto the number that there will be',
  },
  { name: 'betas', type: 'string', value: 'B1,B2', default: '0.9,0.95', describe: 'Decay of AdamW’s moments' },
  {
    name: 'weight-decay',
    type: 'number',
    value: 'W',
    min: 0,
    max: WEIGHT,
    default: 0.01,
    describe: 'Decoupled weight decay, of matrices only',
  },
  {
    name: 'max-grad-norm',
    type: 'number',
    value: 'N',
    min: 0,
    max: LARGEST,
    default: 1,
    describe: 'Global norm of the gradient at most',
  },
  {
    name: 'epochs',
    type: 'integer',
    value: 'N',
    min: 1,
    max: MANY,
    default: 1,
    describe: 'Passes over an update’s steps; for sft over all demonstrations, for dpo and kto over all preferences',
  },
  {
    name: 'minibatches',
    type: 'integer',
    value: 'N',
    min: 1,
    max: MANY,
    default: 1,
    describe: 'Optimiser steps a pass',
  },
  {
    name: 'batch-samples',
    type: 'integer',
    value: 'N',
    min: 1,
    describe: 'Selected steps an update, rounded up to whole groups (256; sft 64); not for dpo and kto',
  },
  {
    name: 'batch-groups',
    type: 'integer',
    value: 'N',
    min: 1,
    describe: 'Groups an update, instead of steps; dpo: pairs of episodes (8), kto: episodes (16)',
  },
  {
    name: 'micro-batch',
    type: 'integer',
    value: 'N',
    min: 1,
    default: 8,
    describe: 'Steps that go through the network together; changes speed and memory, not the mean',
  },
  {
    name: 'max-bad-updates',
    type: 'integer',
    value: 'N',
    min: 1,
    default: 5,
    describe: 'Updates in a row with a loss that is not finite, after which training stops',
  },
];

const output: OptionSpec[] = [
  { name: 'publish', type: 'string', value: 'DIR', describe: 'Folder that versions are published in' },
  {
    name: 'publish-every',
    type: 'integer',
    value: 'N',
    min: 0,
    describe: 'Updates between versions; 0 only at the end (1; sft, dpo, kto: after each pass)',
  },
  { name: 'keep-versions', type: 'integer', value: 'K', min: 1, default: 8, describe: 'Newest versions that stay' },
  {
    name: 'store',
    type: 'string',
    value: 'URL',
    describe: 'Store that hears of versions and of the groups learned from: sqlite:PATH or mysql://USER@HOST/DATABASE',
  },
  { name: 'run-id', type: 'string', value: 'ID', describe: 'Name of the run in the store; made from --publish' },
];

const limits: OptionSpec[] = [
  { name: 'max-updates', type: 'integer', value: 'N', min: 0, describe: 'Updates in all, those before a restart too' },
  { name: 'max-samples', type: 'integer', value: 'N', min: 0, describe: 'Steps learned from in all' },
  { name: 'max-seconds', type: 'number', value: 'S', min: 0, max: SECONDS, describe: 'Seconds of this run' },
];

const guards: OptionSpec[] = [
  {
    name: 'stop-if',
    type: 'string',
    value: 'RULE',
    multiple: true,
    describe:
      'End with exit 1 before the update is published in which a metric passes a limit, as in "rollout_kl>0.5" or "entropy<0.05 for 3" (updates in a row, restarts between them or not); the same rule ends the same run again; may be given several times',
  },
  {
    name: 'evaluations',
    type: 'string',
    value: 'FILE',
    describe:
      'File that others append the output of dart-eval on the published versions to; the best version is kept in best.json',
  },
  {
    name: 'rollback-drop',
    type: 'number',
    value: 'D',
    min: 0,
    max: 1,
    describe: 'Go back to the best version when a newer one scores lower by more than D (0.1 is ten points)',
  },
  {
    name: 'rollback-interval',
    type: 'boolean',
    describe:
      'Go back when the 95% interval of a newer one lies below the best score; with --rollback-drop both must hold',
  },
];

const reports: OptionSpec[] = [
  {
    name: 'tensorboard',
    type: 'string',
    value: 'DIR',
    describe: 'Write the metrics as TensorBoard event files, too (folders that are missing are made)',
  },
];

const machine: OptionSpec[] = [
  {
    name: 'device',
    type: 'string',
    value: 'auto|cpu|cuda|cuda:N',
    default: 'auto',
    describe:
      'Where loss, log-probabilities and optimiser are computed; auto is the first GPU, or else the CPU; cuda is cuda:0. DART_CUDA_LIBRARY names other CUDA kernels than the built ones',
  },
  {
    name: 'threads',
    type: 'integer',
    value: 'N',
    min: 1,
    max: 1024,
    default: 1,
    describe: 'Threads of the network, and of the kernels on the CPU, whose results do not depend on it',
  },
];

const under = (group: string, options: OptionSpec[]) => options.map((option) => ({ ...option, group }));

export const TRAIN_OPTIONS: readonly OptionSpec[] = [
  ...under('Input', input),
  ...under('Objective', objective),
  ...under('Optimiser', optimiser),
  ...under('Versions', output),
  ...under('Limits', limits),
  ...under('Guards', guards),
  ...under('Reports', reports),
  ...under('Machine', machine),
  ...TORCH_OPTIONS,
];
