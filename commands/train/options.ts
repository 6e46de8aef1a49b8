import type { OptionSpec } from '../../lib/cli/spec.ts';
import { OBJECTIVE_OPTIONS, OPTIMISER_OPTIONS } from './learning_options.ts';
import { SECONDS } from './option_limits.ts';
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
  ...under('Objective', OBJECTIVE_OPTIONS),
  ...under('Optimiser', OPTIMISER_OPTIONS),
  ...under('Versions', output),
  ...under('Limits', limits),
  ...under('Guards', guards),
  ...under('Reports', reports),
  ...under('Machine', machine),
  ...TORCH_OPTIONS,
];
