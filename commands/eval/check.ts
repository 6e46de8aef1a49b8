import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { EXIT } from '../../lib/errors.ts';
import { type Check, checkTask, type Verdict } from '../../lib/osworld/check.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { tasksOf } from './tasks.ts';

const VERDICTS: readonly Verdict[] = ['native', 'bridge', 'unsupported'];

interface Counts extends Record<Verdict, number> {
  tasks: number;
}

/** `dart-eval check`: what each task needs, and whether it can be scored here. Nothing is run. */
export async function run(context: CommandContext): Promise<number> {
  const skipped = { count: 0 };
  const tasks = await tasksOf(context, String(context.options.from), skipped);
  const output = await openOutput(context);
  const domains = new Map<string, Counts>();
  const all = noCounts();
  const reasons = new Map<string, number>();
  for (const task of tasks) {
    context.io.signal.throwIfAborted();
    const { task_id, domain } = task;
    const check = checkTask(task);
    await output.write({ type: 'check', v: SCHEMA_VERSION, task_id, domain, ...check });
    const counts = domains.get(domain) ?? noCounts();
    domains.set(domain, counts);
    for (const sum of [counts, all]) {
      sum.tasks += 1;
      sum[check.verdict] += 1;
    }
    for (const reason of check.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  await output.write({
    type: 'summary',
    v: SCHEMA_VERSION,
    command: 'dart-eval check',
    ...all,
    skipped: skipped.count,
    reasons: Object.fromEntries(byCount(reasons)),
  });
  await output.close();
  if (context.options.table) await printTables(context, domains, all, reasons);
  const below = context.options['fail-under'] as number | undefined;
  if (below !== undefined && all.native < below) return EXIT.negative;
  return skipped.count > 0 ? EXIT.failure : EXIT.ok;
}

function noCounts(): Counts {
  return { tasks: 0, native: 0, bridge: 0, unsupported: 0 };
}

function byCount(reasons: ReadonlyMap<string, number>): [string, number][] {
  return [...reasons].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

async function printTables(
  { io }: CommandContext,
  domains: ReadonlyMap<string, Counts>,
  all: Counts,
  reasons: ReadonlyMap<string, number>,
): Promise<void> {
  const row = (name: string, counts: Counts) => [name, counts.tasks, ...VERDICTS.map((verdict) => counts[verdict])];
  const rows = [...domains].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, counts]) => row(name, counts));
  await printTable(io, ['domain', 'tasks', ...VERDICTS], [...rows, row('all', all)]);
  if (reasons.size > 0) await printTable(io, ['tasks', 'why they are not native'], byCount(reasons).map(turned));
}

function turned([reason, count]: [string, number]): [number, string] {
  return [count, reason];
}

/** A check in the words of a result, for a task that is left out of an evaluation. */
export function whyNot({ verdict, reasons }: Pick<Check, 'verdict' | 'reasons'>): string {
  return reasons.length > 0 ? reasons.join('; ') : verdict;
}
