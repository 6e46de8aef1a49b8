import { DartError } from '../errors.ts';
import type { AdvantageKind, AdvantageScope } from './advantage.ts';
import type { PoolRule } from './pool.ts';

/** The rules of one curation. */
export interface CurationOptions {
  /** Versions that a trajectory may be behind. */
  maxStaleness: number;
  /** Scored members that a group needs. */
  minScored: number;
  pool: PoolRule;
  /** Successes kept per task. */
  poolCapacity: number;
  advantage: AdvantageKind;
  advantageScope: AdvantageScope;
  /** Members that a group has at most; null for no limit. */
  maxGroup: number | null;
  /** Hand on groups without variance too (their advantages are 0). */
  keepConstant: boolean;
  /** Milliseconds without a new member after which a group is closed as it is. */
  groupTimeoutMs: number;
}

export const PRESETS = ['dart', 'arpo', 'grpo'] as const;
export type Preset = (typeof PRESETS)[number];

const COMMON: CurationOptions = {
  maxStaleness: 8,
  minScored: 2,
  pool: 'dart',
  poolCapacity: 8,
  advantage: 'grpo',
  advantageScope: 'trajectory',
  maxGroup: null,
  keepConstant: false,
  groupTimeoutMs: 600_000,
};

/** What a preset means for curation: the three differ in the pool alone (design §8, §9). */
export function presetOptions(preset: string): CurationOptions {
  if (preset === 'dart') return COMMON;
  if (preset === 'arpo') return { ...COMMON, pool: 'arpo' };
  if (preset === 'grpo') return { ...COMMON, pool: 'off' };
  throw new DartError(`unknown preset "${preset}"`, { where: '--preset', hint: PRESETS.join(', ') });
}
