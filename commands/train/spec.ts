import { COMMON_OPTIONS, DRY_RUN_OPTION, OUTPUT_FILE, OUTPUT_OPTIONS } from '../../lib/cli/common.ts';
import type { CommandSpec } from '../../lib/cli/spec.ts';
import { TRAIN_OPTIONS } from './options.ts';
import { plot } from './plot_spec.ts';

const exporting: CommandSpec = {
  name: 'export',
  summary: 'Bake a published version into one .onnx file',
  description:
    'Writes the graph of DIR/policy.onnx with the weights of one version, the newest unless --version-number says. Of a folder of the torch engine it copies the version’s model (weights or adapters, configuration, tokenizer, processor) into a new folder.',
  options: [
    { ...OUTPUT_FILE, value: 'FILE|DIR', describe: 'File, or new folder, to write, whole or not at all' },
    { name: 'version-number', type: 'integer', value: 'N', min: 0, describe: 'Version, instead of the newest' },
    ...COMMON_OPTIONS,
  ],
  positionals: [{ name: 'dir', describe: 'Folder that dart-train published into', required: true }],
  examples: [{ command: 'dart-train export runs/policy -o policy.onnx', describe: 'the newest version as one file' }],
  run: async (context) => (await import('./export.ts')).run(context),
};

const init: CommandSpec = {
  name: 'init',
  summary: 'Make a fresh embedded policy',
  description:
    'Writes a network that has learned the alphabet from pages of random letters, and nothing else; its other weights are random. The same seed makes the same file.',
  options: [
    OUTPUT_FILE,
    {
      name: 'reading-steps',
      type: 'integer',
      value: 'N',
      min: 0,
      default: 600,
      describe: 'Batches of 16 pages to learn the letters from; 0: none',
    },
    ...COMMON_OPTIONS,
  ],
  examples: [{ command: 'dart-train init -o init.onnx --seed 1', describe: 'something to start sft from' }],
  run: async (context) => (await import('./init.ts')).run(context),
};

const OUTPUTS = OUTPUT_OPTIONS.map((option) =>
  option.name === 'output'
    ? { ...option, describe: `${option.describe}; a run that goes on keeps what it reported there before` }
    : option,
);

/** `dart-train`: from samples or demonstrations to published versions of a policy. */
export const spec: CommandSpec = {
  name: 'dart-train',
  summary: 'Update the policy from curated samples',
  description: [
    'Reads sample records, gathers whole groups, selects the steps of high entropy, and updates the policy whenever enough of them are there. Each update is reported as metric records; versions are published whole into --publish DIR, where rollouts find them, and the same command goes on from the newest one.',
    'With --objective sft it reads trajectory, demonstration or sample records to their end and imitates them. With dpo or kto it reads preference records to their end and learns to prefer whole episodes.',
    'With --policy hf:DIR (--engine torch) a Hugging Face vision-language checkpoint is trained by PyTorch, in one process a GPU: all weights, or adapters with --lora. docs/training.md says what it needs.',
    'Of an ONNX policy the network itself runs on the CPU. With --device cuda:N the policy loss, the log-probabilities and AdamW are computed on that GPU, and each call copies its arrays there and back: that can pay only where the vocabulary is large. --device cpu touches nothing of CUDA. The same samples end at the same bytes on the same device with the same --threads.',
  ].join('\n\n'),
  options: [...TRAIN_OPTIONS, ...OUTPUTS, ...COMMON_OPTIONS, DRY_RUN_OPTION],
  positionals: [{ name: 'files', describe: 'NDJSON files, - for standard input (the default)', multiple: true }],
  subcommands: [exporting, init, plot],
  examples: [
    {
      command:
        'dart-rollout … --follow | dart-curate --follow | dart-train --policy onnx:base.onnx --publish runs/policy',
      describe: 'asynchronous training; rollouts take new versions from runs/policy',
    },
    {
      command: 'dart-train --objective sft --policy onnx:init.onnx --publish runs/sft demos.ndjson --epochs 4',
      describe: 'imitate successful trajectories',
    },
    {
      command:
        'dart-curate pairs --for dpo --pairs 4 rollouts.ndjson | dart-train --objective dpo --policy onnx:base.onnx --publish runs/dpo --epochs 4',
      describe: 'prefer the successes of a task to its failures',
    },
    {
      command: 'dart-train samples.ndjson --policy onnx:base.onnx --publish runs/plain --preset grpo --no-tis',
      describe: 'the plain baseline from a file of samples',
    },
    {
      command: 'dart-train --follow - --policy hf:models/UI-TARS-1.5-7B --lora 64 --publish runs/tars',
      describe: 'adapters for a model of 7 billion weights, on all GPUs of this machine',
    },
  ],
  exitCodes: {
    1: 'the input ended and the run has no update at all, earlier ones included (sft: there was nothing to imitate; dpo, kto: no preference, or only one label); or --stop-if ended the run',
    75: 'another dart-train publishes into the folder',
  },
  effective: async (options) => (await import('./effective.ts')).effectiveSettings(options),
  run: async (context) => (await import('./run.ts')).run(context),
};
