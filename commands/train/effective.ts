import type { CommandContext, Effective } from '../../lib/cli/spec.ts';
import { EMBEDDED_LR, LOSSES, type LossName, type PolicyObjective } from '../../lib/training/presets.ts';
import { policyObjective } from './settings.ts';

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
  const sft = options.objective === 'sft';
  const by = (value: number) => ({ value, from: `objective ${options.objective}` });
  const common = {
    lr: by(sft ? EMBEDDED_LR.sft : EMBEDDED_LR.grpo),
    'batch-samples': by(sft ? 64 : 256),
    'publish-every': by(sft ? 0 : 1),
  };
  return sft ? common : { ...common, ...objectiveSettings(options) };
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
