import { join } from 'node:path';

export interface DemoSettings {
  seed: number;
  /** Wall-clock seconds that the trainer may take. */
  seconds: number;
  /** Run folder: store, blobs, policy versions, evaluations. */
  dir: string;
}

export interface DemoStep {
  title: string;
  /** A line for bash, as a user would type it in the checkout. */
  command: string;
  /** The file that shows that the step is done. */
  product?: string;
}

/** One name for all three processes: staleness, versions and resuming go by it. */
export const RUN_ID = 'demo';
export const BASE = 'fixtures/policies/base.onnx';
const SUITES = { train: 'fixtures/tasks/embedded', heldout: 'fixtures/tasks/heldout' } as const;

/** The steps of the demo, in order: evaluate, train asynchronously in three processes, evaluate again. */
export function demoSteps(settings: DemoSettings): DemoStep[] {
  const policy = join(settings.dir, 'policy');
  return [
    evaluation('base policy on the training tasks', settings, BASE, 'train', 'base'),
    evaluation('base policy on held-out variants', settings, BASE, 'heldout', 'base'),
    {
      title: 'publish the base policy as version 0',
      command: `bin/dart-train --policy onnx:${BASE} --publish ${policy} --store ${storeOf(settings)} --run-id ${RUN_ID} --max-updates 0 -o ${join(settings.dir, 'publish.ndjson')} --quiet < /dev/null`,
      product: join(settings.dir, 'publish.ndjson'),
    },
    {
      title: `train for at most ${settings.seconds} s: rollouts, curation and training in three processes that never wait for each other`,
      command: pipeline(settings, policy),
      product: join(settings.dir, 'train.ndjson'),
    },
    evaluation('trained policy on the training tasks', settings, policy, 'train', 'trained'),
    evaluation('trained policy on held-out variants', settings, policy, 'heldout', 'trained'),
  ];
}

/** Address of the store that the demo's processes share. */
export function storeOf(settings: DemoSettings): string {
  return `sqlite:${join(settings.dir, 'dart.db')}`;
}

function evaluation(
  title: string,
  settings: DemoSettings,
  policy: string,
  suite: keyof typeof SUITES,
  name: string,
): DemoStep {
  const product = join(settings.dir, `${name}-${suite}.ndjson`);
  return {
    title,
    command: `bin/dart-eval --tasks ${SUITES[suite]} --policy onnx:${policy} --env embedded:16 --repeats 8 --temperature 1 --seed ${settings.seed} --table -o ${product}`,
    product,
  };
}

function pipeline(settings: DemoSettings, policy: string): string {
  const shared = `--store ${storeOf(settings)} --blobs ${join(settings.dir, 'blobs')}`;
  return [
    `bin/dart-rollout --tasks ${SUITES.train} --env embedded:32 --policy onnx:${policy} --follow --run-id ${RUN_ID} --seed ${settings.seed} --max-steps 12 ${shared} --quiet`,
    `bin/dart-curate - --follow --preset dart ${shared} --quiet`,
    `bin/dart-train - --follow --preset dart --kl-beta 0 --aggregation token-mean --lr 3e-4 --publish ${policy} ${shared} --run-id ${RUN_ID} --device cpu --seed ${settings.seed} --max-seconds ${settings.seconds} -o ${join(settings.dir, 'train.ndjson')}`,
  ].join(' \\\n| ');
}

/**
 * The recipe of the base policy: a fresh network imitates experts that act at random in a share of their steps, failures
 * included, so that it knows the desktop but succeeds only sometimes.
 */
export function baseSteps(dir: string): DemoStep[] {
  const file = (name: string) => join(dir, name);
  return [
    {
      title: 'a fresh network',
      command: `bin/dart-train init -o ${file('fresh.onnx')} --seed 1`,
      product: file('fresh.onnx'),
    },
    {
      title: 'noisy experts on the training tasks',
      command: `bin/dart-rollout --tasks ${SUITES.train} --env embedded:8 --policy script:noise=0.3 -n 100 --no-dynamic-rollouts --no-dynamic-length --max-steps 10 --seed 11 --blobs ${file('blobs')} -o ${file('demonstrations.ndjson')}`,
      product: file('demonstrations.ndjson'),
    },
    {
      title: 'imitate them',
      command: `bin/dart-train ${file('demonstrations.ndjson')} --objective sft --all-outcomes --device cpu --policy onnx:${file('fresh.onnx')} --epochs 3 --lr 1e-3 --lr-schedule cosine --lr-warmup 20 --seed 1 --blobs ${file('blobs')} --publish ${file('policy')} -o ${file('sft.ndjson')}`,
      product: file('sft.ndjson'),
    },
    {
      title: 'one file for fixtures',
      command: `bin/dart-train export ${file('policy')} -o ${BASE}`,
    },
  ];
}
