import type { Result, Summary } from '../stream/records.ts';
import type { Comparison } from './compare.ts';
import type { Evaluation } from './evaluation.ts';
import type { GateResult } from './gates.ts';
import { domainTable, percent, type Row, signed } from './tables.ts';

/** What all reports of an evaluation are made from. */
export interface EvaluationReport {
  title: string;
  summary: Summary;
  results: readonly Result[];
  domains: readonly [head: readonly string[], rows: readonly Row[]];
  gates: readonly GateResult[];
  comparison: Comparison | null;
  /** When it was made. */
  at: Date;
}

/** A task's place in a report. */
export type TaskState = 'solved' | 'failed' | 'errored' | 'unsupported';

/** Solved is more than half of what can be had: of one rollout a success, of several the greater part. */
export function stateOf(result: Result): TaskState {
  if (result.unsupported !== undefined) return 'unsupported';
  if (result.score === null) return 'errored';
  return result.score > 0.5 ? 'solved' : 'failed';
}

/** Puts a report together. */
export function reportOf(
  evaluation: Evaluation,
  parts: Omit<EvaluationReport, 'results' | 'domains'>,
): EvaluationReport {
  return { ...parts, results: evaluation.results(), domains: domainTable(evaluation) };
}

/** Name and text of what there is to say of the whole, for people. */
export function factsOf({ summary, comparison }: Pick<EvaluationReport, 'summary' | 'comparison'>): [string, string][] {
  const rate = (name: string): string => {
    const [value, low, high] = [name, `${name}_low`, `${name}_high`].map((field) => summary[field] as number | null);
    return typeof value === 'number' ? `${percent(value)} (95% over tasks ${percent(low!)}–${percent(high!)})` : 'none';
  };
  const pass = Object.entries((summary.pass_at_k ?? {}) as Record<string, number>)
    .map(([k, value]) => `@${k} ${percent(value)}`)
    .join(', ');
  const text = (value: unknown, before = '', after = '') =>
    value === undefined || value === null ? null : `${before}${value}${after}`;
  const facts: [string, string | null][] = [
    ['success', `${rate('success_rate')} of the scored tasks`],
    ['errors as 0', rate('success_rate_errors_as_zero')],
    ['pass', pass === '' ? null : pass],
    ['change', comparison ? `${signed(comparison.gain.value)} against the baseline` : null],
    ['tasks', `${summary.tasks}, ${summary.errored} errored, ${summary.unsupported} unsupported`],
    ['rollouts', `${summary.rollouts}, ${summary.scored} scored`],
    ['steps', `${(summary.mean_steps as number).toFixed(1)} a rollout${text(summary.max_steps, ', at most ') ?? ''}`],
    ['time', `${(summary.mean_seconds as number).toFixed(1)} s a rollout`],
    ['policy', text(summary.policy)],
    ['version', text(summary.model_version)],
    ['sampling', text(summary.temperature, 'temperature ')],
    ['protocol', text(summary.protocol)],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}

/** How a task came out, in words: `score 0.25, 2 of 8 rollouts succeeded`. */
export function outcomeOf(result: Result): string {
  const { score, scored, successes, rollouts, error, unsupported } = result;
  if (unsupported !== undefined) return String(unsupported);
  if (score === null) return error === undefined ? 'nothing was scored' : String(error);
  const errors = rollouts - (scored as number);
  const lost = errors > 0 ? `, ${errors} ended in an error` : '';
  return `score ${Math.round(score * 1000) / 1000}, ${successes} of ${scored} rollouts succeeded${lost}`;
}

/** The whole as one JSON document. */
export function jsonReport(report: EvaluationReport): string {
  const { title, at, summary, domains, gates, comparison, results } = report;
  const [head, rows] = domains;
  const tables = rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
  const document = { title, at: at.toISOString(), summary, gates, domains: tables, comparison, tasks: results };
  return `${JSON.stringify(document, null, 2)}\n`;
}
