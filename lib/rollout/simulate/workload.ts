import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { DartError } from '../../errors.ts';
import { fileError } from '../../stream/errno.ts';
import { parseJsonFile } from '../../stream/json.ts';
import { SCHEMA_VERSION, type Task } from '../../stream/records.ts';
import { distributionSchema, meanOf } from './distribution.ts';

/** Where a figure comes from: a publication, a measurement, or "assumed: why". */
const source = z.string().min(1);
/** Of each there is a list, of desktops as of steps. */
const MOST = 10_000;
const count = z.strictObject({ value: z.number().int().positive().max(MOST), source });
const spread = z.strictObject({ distribution: distributionSchema, source });

const workloadSchema = z.strictObject({
  name: z.string(),
  about: z.string(),
  desktops: count,
  workers: count,
  gpus_per_worker: count,
  tasks: count,
  /** Rollouts of a group. */
  rollouts: count,
  /** Groups of an update, and of a batch where rollouts come in batches. */
  batch_groups: count,
  max_steps: count,
  /** Steps that a rollout takes if nothing cuts it short. */
  steps: spread,
  /** Seconds. */
  latency: z.strictObject({
    reset: spread,
    /** One action in the desktop, with the wait after it. */
    step: spread,
    /** One request that is alone on its worker. */
    inference: spread,
    evaluation: spread,
    /** One update of the trainer, to the published version. */
    update: spread,
    /** One worker goes from its last request on one version to the first on the next. */
    load: spread,
  }),
  /** By how much a request is slower with so many in flight on its worker. */
  slowdown: z.strictObject({
    table: z.array(z.tuple([z.number().int().positive(), z.number().positive()])).min(1),
    source,
  }),
});

export type Workload = z.infer<typeof workloadSchema>;

const EXAMPLE = 'fixtures/workloads/dart.json shows every field';

/** @throws DartError that names the field at fault. */
export function parseWorkload(value: unknown, where: string): Workload {
  const parsed = workloadSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new DartError(`${issue!.path.join('.') || 'the file'}: ${issue!.message}`, {
      where,
      hint: EXAMPLE,
    });
  }
  const { table } = parsed.data.slowdown;
  if (table.some(([requests], index) => index > 0 && requests <= table[index - 1]![0])) {
    throw new DartError('slowdown.table: the numbers of requests do not rise', { where });
  }
  if (table.some(([, factor], index) => index > 0 && factor < table[index - 1]![1])) {
    const hint = 'beyond the table it goes on along its last line, which must not fall to 0';
    throw new DartError('slowdown.table: a request is faster among more of them', { where, hint });
  }
  return parsed.data;
}

/** On average, seconds of one rollout alone; what a desktop is never done with sooner than. */
export function secondsOfRollout({ latency, steps, max_steps }: Workload): number {
  const mean = (name: keyof Workload['latency']) => meanOf(latency[name].distribution);
  const count = Math.min(max_steps.value, Math.max(1, meanOf(steps.distribution)));
  return mean('reset') + count * mean('inference') + (count - 1) * mean('step') + mean('evaluation');
}

/** @throws DartError on a file that cannot be read or is no workload. */
export async function readWorkload(path: string): Promise<Workload> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw fileError(error, 'read the workload', path);
  });
  return parseWorkload(parseJsonFile(text, path, EXAMPLE), path);
}

/**
 * As many task records as the workload has tasks, without set-up. They are infeasible ones, so that a policy decides
 * by how it ends an episode whether that was a success.
 */
export function workloadTasks({ tasks }: Pick<Workload, 'tasks'>): Task[] {
  return Array.from({ length: tasks.value }, (_, index) => {
    const id = String(index + 1).padStart(3, '0');
    return {
      type: 'task',
      v: SCHEMA_VERSION,
      task_id: `workload/${id}`,
      domain: 'workload',
      id,
      instruction: 'spend the stated time',
      evaluator: { func: 'infeasible' },
    };
  });
}
