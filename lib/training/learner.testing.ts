import type { Example } from './examples.ts';
import { Learner, type LearnerSettings } from './learner.ts';
import { LinearModel } from './linear.testing.ts';
import { PRESETS } from './presets.ts';

export const SETTINGS: LearnerSettings = {
  objective: PRESETS.grpo.objective,
  schedule: { shape: 'constant', lr: 0.1, warmup: 0, total: null, floor: 0 },
  adam: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 },
  microBatch: 4,
  minibatches: 1,
  epochs: 1,
  aggregationConstant: null,
  maxBadUpdates: 3,
  seed: 1,
};

/** Any sha256 that starts with `f` is a red picture, any other a black one. */
export const frames = {
  get: (sha: string) => ({ width: 1, height: 1, rgb: Uint8Array.of(sha.startsWith('f') ? 255 : 0, 0, 0) }),
};

export function makeLearner(settings: Partial<LearnerSettings> = {}, vocabulary = 4) {
  const model = new LinearModel(vocabulary);
  const reference = new LinearModel(vocabulary);
  return { model, reference, learner: new Learner(model, { ...SETTINGS, ...settings }, { frames, reference }) };
}

export function makeExample(tokens: number[], fields: Partial<Example> = {}): Example {
  return {
    where: 'x:1',
    groupId: 'g',
    instruction: '',
    history: [],
    screenshot: '0',
    tokens: Int32Array.from(tokens),
    rolloutLogp: new Float32Array(tokens.length).fill(Number.NaN),
    advantage: 1,
    reward: 1,
    entropy: null,
    temperature: 1,
    behaviourVersion: 0,
    injected: false,
    tokenised: false,
    oldLogp: null,
    ...fields,
  };
}
