import type { Trajectory } from '../stream/records.ts';
import { type EvaluationReport, factsOf, outcomeOf, stateOf } from './document.ts';
import { type PageTable, reportPage } from './trajectory/page.ts';
import type { LoadBlob } from './trajectory/screens.ts';

/**
 * Chooses what a page shows: of each task the first rollout of each outcome. A page with all of them would hold thousands of
 * screenshots, and say little more.
 */
export class PageChoice {
  readonly #chosen = new Map<string, Trajectory>();

  add(trajectory: Trajectory): void {
    const key = `${trajectory.domain}\n${trajectory.task_id}\n${trajectory.outcome}`;
    if (!this.#chosen.has(key)) this.#chosen.set(key, trajectory);
  }

  /** In the order of domain, task and outcome. */
  get trajectories(): Trajectory[] {
    return [...this.#chosen].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trajectory]) => trajectory);
  }
}

/** The report as one self-contained HTML page, part after part. */
export function evaluationPage(
  report: EvaluationReport,
  trajectories: readonly Trajectory[],
  loadBlob: LoadBlob,
): AsyncGenerator<string> {
  const [head, rows] = report.domains;
  const gates = report.gates.map(({ name, passed, message }) => [name, passed ? 'passed' : 'failed', message]);
  const tables: PageTable[] = [
    { caption: 'Gates', head: ['gate', 'verdict', 'why'], rows: gates },
    { caption: 'By domain', head, rows },
    tasksOf(report, 'errored', 'Tasks that could not be scored, for errors'),
    tasksOf(report, 'unsupported', 'Tasks that cannot be scored here'),
  ].filter((table) => table.rows.length > 0);
  const facts = [...factsOf(report), ['made', report.at.toISOString()] as const];
  return reportPage({ title: report.title, facts, tables, trajectories, loadBlob });
}

function tasksOf({ results }: EvaluationReport, state: ReturnType<typeof stateOf>, caption: string): PageTable {
  const rows = results.filter((result) => stateOf(result) === state);
  return {
    caption,
    head: ['task', 'domain', 'why'],
    rows: rows.map((result) => [result.task_id, result.domain, outcomeOf(result)]),
  };
}
