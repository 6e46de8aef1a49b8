import type { Summary } from '../stream/records.ts';
import { type Comparison, type Gate, isRegression } from './compare.ts';
import { apart, percent, signed } from './tables.ts';

/** One condition of a verdict: what was asked, and how it came out. */
export interface GateResult {
  name: 'scored' | 'fail-under' | 'baseline';
  passed: boolean;
  /** One line for people. */
  message: string;
}

/** Which success rate a gate looks at, in words. */
export const GATE_WORDS: Readonly<Record<Gate, string>> = {
  scored: 'success rate over scored tasks',
  'errors-as-zero': 'success rate with errors as 0',
};

/** The success rate that a gate looks at; null where nothing was scored. */
export function rateOf(summary: Summary, gate: Gate): number | null {
  const field = gate === 'scored' ? 'success_rate' : 'success_rate_errors_as_zero';
  return summary.rollouts === 0 || summary.scored === 0 ? null : (summary[field] as number | null);
}

/** Nothing scored is a "no" whatever was asked. */
export function scoredGate(summary: Summary): GateResult {
  const passed = (summary.scored as number) > 0;
  const message =
    summary.rollouts === 0 ? 'nothing to score' : 'no rollout could be scored; its outcomes are in the summary';
  return { name: 'scored', passed, message: passed ? `${summary.scored} rollouts were scored` : message };
}

/** `--fail-under`: the rate itself is compared, not an end of its interval. */
export function thresholdGate(summary: Summary, gate: Gate, threshold: number): GateResult {
  const rate = rateOf(summary, gate);
  const passed = rate !== null && rate >= threshold;
  const [found, wanted] = rate === null ? ['none', percent(threshold)] : apart(percent, rate, threshold);
  const message = `${GATE_WORDS[gate]} ${found} is ${passed ? 'not ' : ''}below --fail-under ${wanted}`;
  return { name: 'fail-under', passed, message };
}

/** `--baseline` with `--max-regression`: a loss that is larger than allowed and no chance (see `isRegression`). */
export function baselineGate(comparison: Comparison | null, allowed: number, name: string): GateResult {
  if (comparison === null) {
    return { name: 'baseline', passed: false, message: `no task was scored both here and in ${name}` };
  }
  const { gain, pNotWorse, tasks } = comparison;
  const passed = !isRegression(comparison, allowed);
  const interval = `95% interval ${signed(gain.low)} to ${signed(gain.high)}`;
  const change = `${signed(gain.value)} against ${name} (${interval}, ${chance(pNotWorse)}, ${tasks.length} tasks)`;
  const message = passed ? change : `${change} is a regression of more than ${signed(allowed).slice(1)}`;
  return { name: 'baseline', passed, message };
}

/** `p 0.012`; of 10,000 draws none is no proof of 0. */
export function chance(p: number): string {
  return p < 0.001 ? 'p below 0.001' : `p ${p.toFixed(3)}`;
}
