import { readFileSync } from 'node:fs';
import { DartError } from '../../lib/errors.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Result, Summary } from '../../lib/stream/records.ts';
import { lineOf } from './shell.ts';

/** Where the tasks are: the split is by file, and nothing that is chosen looks at the held-out ones. */
export const SUITES = { train: 'fixtures/tasks/embedded', heldout: 'fixtures/tasks/heldout' } as const;
export type Suite = keyof typeof SUITES;

/** Steps that an episode may take, in training and in evaluation. */
export const MAX_STEPS = 30;

/** What a policy is worth on a suite. */
export interface Evaluation {
  success: number;
  /** Share of the tasks with at least one success. */
  coverage: number;
  /** Mean steps of all rollouts. */
  steps: number;
  rollouts: number;
  /** Success of each task. */
  tasks: Map<string, number>;
}

/** The line that evaluates a policy, at temperature 1 on layouts that training never uses. */
export function evaluationLine(options: {
  policy: string;
  tasks: string;
  repeats: number;
  seed: number;
  output: string;
  /** Only so many tasks, drawn by the seed: for trials. */
  sample?: number | null;
  more?: readonly string[];
}): string {
  const { policy, tasks, repeats, seed, output, sample, more = ['--max-steps', String(MAX_STEPS)] } = options;
  const what = ['--tasks', tasks, '--policy', `onnx:${policy}`, '--env', 'embedded:16', '--repeats', repeats];
  // Behind everything else: where a training runs beside it, that must not notice.
  return lineOf(
    ['nice', '-n', 19],
    'bin/dart-eval',
    what,
    '--temperature',
    1,
    '--seed',
    seed,
    '-o',
    output,
    '--quiet',
    sample ? ['--sample', sample] : [],
    more,
  );
}

/** Reads what `dart-eval` wrote. */
export async function readEvaluation(path: string): Promise<Evaluation> {
  const tasks = new Map<string, number>();
  let summary: Summary | undefined;
  for await (const { record } of readRecords(bytes(path), { name: path })) {
    if (record.type === 'summary') summary = record as Summary;
    const { task_id, score } = record as Partial<Result>;
    if (record.type === 'result' && task_id !== undefined && score != null) tasks.set(task_id, score);
  }
  if (!summary) throw new DartError('no summary record', { where: path });
  const { success_rate, coverage, mean_steps, rollouts } = summary as unknown as Record<string, number>;
  return { success: success_rate!, coverage: coverage!, steps: mean_steps!, rollouts: rollouts!, tasks };
}

async function* bytes(path: string): AsyncGenerator<Uint8Array> {
  yield readFileSync(path);
}
