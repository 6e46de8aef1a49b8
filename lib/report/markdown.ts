import { visible } from '../stream/visible.ts';
import { type EvaluationReport, factsOf, outcomeOf, stateOf } from './document.ts';
import type { Row } from './tables.ts';

/** Tasks of one kind that are listed; a job's summary may have 1 MiB in all. */
const LISTED = 100;

/** The report as Markdown, for a file, a comment, or GitHub's page of a job. */
export function markdownReport(report: EvaluationReport): string {
  const [head, rows] = report.domains;
  const failed = report.gates.filter(({ passed }) => !passed);
  const verdict = failed.length === 0 ? 'passed' : 'failed';
  return [
    `## ${inline(report.title)}: ${verdict}`,
    report.gates.map(({ passed, message }) => `- ${passed ? '✅' : '❌'} ${inline(message)}`).join('\n'),
    table(['', ''], factsOf(report)),
    `### By domain\n\n${table(head, rows)}`,
    moved(report),
    listed(report, 'failed', 'Tasks that failed'),
    listed(report, 'errored', 'Tasks that could not be scored, for errors'),
    listed(report, 'unsupported', 'Tasks that cannot be scored here'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n');
}

function listed(report: EvaluationReport, state: ReturnType<typeof stateOf>, heading: string): string {
  const results = report.results.filter((result) => stateOf(result) === state);
  if (results.length === 0) return '';
  const rows = results.slice(0, LISTED).map((result): Row => [result.task_id, result.domain, outcomeOf(result)]);
  const rest = results.length > LISTED ? `\n\n… and ${results.length - LISTED} more.` : '';
  const content = `${table(['task', 'domain', 'what came of it'], rows)}${rest}`;
  return `<details><summary>${heading} (${results.length})</summary>\n\n${content}\n\n</details>`;
}

/** Tasks that have lost most against the baseline. */
function moved({ comparison }: EvaluationReport): string {
  if (!comparison) return '';
  const lost = comparison.tasks
    .filter((task) => task.after < task.before)
    .sort((a, b) => a.after - a.before - (b.after - b.before))
    .slice(0, 20);
  if (lost.length === 0) return '';
  const rows = lost.map((task): Row => [task.task_id, task.before.toFixed(2), task.after.toFixed(2)]);
  return `### Lost against the baseline\n\n${table(['task', 'before', 'now'], rows)}`;
}

function table(head: readonly string[], rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.map((cell) => (cell === null ? '–' : inline(String(cell)))).join(' | ')} |`;
  return [line(head), `|${head.map(() => ' --- ').join('|')}|`, ...rows.map(line)].join('\n');
}

/** One line in which nothing is markup: a task's error may hold anything. */
function inline(text: string): string {
  return visible(text)
    .replace(/\s+/g, ' ')
    .slice(0, 500)
    .replace(/[\\`*_{}[\]<>|#~@!]/g, (character) => `\\${character}`);
}
