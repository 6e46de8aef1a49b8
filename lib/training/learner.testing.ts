import type { Example } from './examples.ts';
import { Learner, type LearnerSettings } from './learner.ts';
import { LinearModel } from './linear.testing.ts';
import { LocalEngine, type LocalSettings } from './local_engine.ts';
import { type PolicyObjective, PRESETS } from './presets.ts';

export const SETTINGS: LearnerSettings = {
  schedule: { shape: 'constant', lr: 0.1, warmup: 0, total: null, floor: 0 },
  minibatches: 1,
  epochs: 1,
  maxBadUpdates: 3,
  seed: 1,
};

export const LOCAL: Omit<LocalSettings, 'objective'> = {
  adam: { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 },
  microBatch: 4,
  aggregationConstant: null,
};

/** Any sha256 that starts with `f` is a red picture, any other a black one. */
export const frames = {
  get: (sha: string) => ({ width: 1, height: 1, rgb: Uint8Array.of(sha.startsWith('f') ? 255 : 0, 0, 0) }),
};

type Given = Partial<LearnerSettings & Omit<LocalSettings, 'objective'>> & { objective?: PolicyObjective | 'sft' };

/** A learner of a linear model, which learns from examples as its objective says. */
export function makeLearner({ objective: given = PRESETS.grpo.objective, ...settings }: Given = {}, vocabulary = 4) {
  const [model, reference] = [new LinearModel(vocabulary), new LinearModel(vocabulary)];
  const objective = given === 'sft' ? { kind: given } : { kind: 'policy' as const, policy: given };
  const engine = new LocalEngine(model, { ...LOCAL, ...settings, objective }, { frames, reference });
  const learner = new Learner(engine, { ...SETTINGS, ...settings });
  const update = (units: readonly Example[]) => learner.update({ kind: objective.kind, units });
  return { model, reference, engine, parameters: engine.parameters, learner, update };
}

export function makeExample(tokens: number[], fields: Partial<Example> = {}): Example {
  return {
    id: 't:0',
    where: 'x:1',
    groupId: 'g',
    instruction: '',
    history: [],
    screenshot: '0',
    earlierScreenshots: [],
    promptIds: null,
    text: '',
    finishReason: 'stop',
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
