import type { Effective, OptionValue } from '../../lib/cli/spec.ts';
import type { AdvantageKind, AdvantageScope } from '../../lib/curation/advantage.ts';
import { type CurationOptions, presetOptions } from '../../lib/curation/options.ts';

type Options = Readonly<Record<string, OptionValue>>;

/** The rules that the options ask for: those of the preset, changed one by one. */
export function curationOptions(options: Options): CurationOptions {
  const preset = presetOptions(String(options.preset ?? 'dart'));
  const seconds = options['group-timeout'] as number | undefined;
  return {
    maxStaleness: (options['max-staleness'] as number | undefined) ?? preset.maxStaleness,
    minScored: (options['min-scored'] as number | undefined) ?? preset.minScored,
    pool: options['no-pool'] === true ? 'off' : preset.pool,
    poolCapacity: (options['pool-capacity'] as number | undefined) ?? preset.poolCapacity,
    advantage: (options.advantage as AdvantageKind | undefined) ?? preset.advantage,
    advantageScope: (options['advantage-scope'] as AdvantageScope | undefined) ?? preset.advantageScope,
    maxGroup: (options['max-group'] as number | undefined) ?? preset.maxGroup,
    keepConstant: options['keep-constant'] === true || preset.keepConstant,
    groupTimeoutMs: seconds === undefined ? preset.groupTimeoutMs : seconds * 1000,
  };
}

/** What the preset makes of options that were not given, for `--print-config`. */
export function effectiveSettings(options: Options): Record<string, Effective> {
  const rules = curationOptions(options);
  const values = {
    'max-staleness': rules.maxStaleness,
    'min-scored': rules.minScored,
    'max-group': rules.maxGroup,
    'group-timeout': rules.groupTimeoutMs / 1000,
    'keep-constant': rules.keepConstant,
    advantage: rules.advantage,
    'advantage-scope': rules.advantageScope,
    'no-pool': rules.pool === 'off',
    'pool-capacity': rules.poolCapacity,
  };
  const from = `preset ${options.preset}`;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, from }]));
}
