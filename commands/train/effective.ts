import type { CommandContext, Effective } from '../../lib/cli/spec.ts';
import { LOSSES, type LossName, type PolicyObjective } from '../../lib/training/presets.ts';
import { defaultsOf, engineOf, policyObjective } from './settings.ts';

/** The settings of the objective by the options that change them. */
const OPTIONS: Readonly<Record<string, keyof PolicyObjective>> = {
  'keep-entropy': 'keepEntropy',
  'clip-low': 'clipLow',
  'clip-high': 'clipHigh',
  'dual-clip': 'dualClip',
  'tis-cap': 'tisCap',
  'tis-level': 'tisLevel',
  'tis-mode': 'tisMode',
  'kl-beta': 'klBeta',
  'kl-estimator': 'klEstimator',
  'entropy-coef': 'entropyCoef',
  aggregation: 'aggregation',
};

/** What preset, loss and objective make of options that were not given, for `--print-config`; null is off. */
export function effectiveSettings(options: CommandContext['options']): Record<string, Effective> {
  const { lr, batch, publishEvery } = defaultsOf(options);
  const by = (value: number) => ({ value, from: `objective ${options.objective}` });
  const counted = options.objective === 'grpo' || options.objective === 'sft' ? 'batch-samples' : 'batch-groups';
  const engine = engineOf(options);
  const chosen = { engine: { value: engine, from: options.policy === undefined ? 'default' : 'policy' } };
  const rate = engine === 'onnx' ? by(lr) : { value: lr, from: `${by(lr).from}, engine torch` };
  const common = { ...chosen, lr: rate, [counted]: by(batch), 'publish-every': by(publishEvery) };
  return options.objective === 'grpo' ? { ...common, ...objectiveSettings(options) } : common;
}

function objectiveSettings(options: CommandContext['options']): Record<string, Effective> {
  const objective = policyObjective(options);
  const changed: Partial<PolicyObjective> = LOSSES[options.loss as LossName];
  const settings: Record<string, Effective> = {};
  for (const [name, key] of Object.entries(OPTIONS)) {
    const from = key in changed ? `loss ${options.loss}` : `preset ${options.preset}`;
    settings[name] = { value: objective[key], from };
  }
  return settings;
}
