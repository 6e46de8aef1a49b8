import { z } from 'zod';
import { DartError } from '../errors.ts';
import type { Task } from '../stream/records.ts';

/**
 * The task files of OSWorld (`evaluation_examples/examples/<domain>/<id>.json`), read leniently: booleans that are
 * written as strings, a missing `config`, fields nobody knows. What is kept is the file as it is plus
 * `type, v, task_id, domain` (design §3).
 */

/** A set-up step as it stands in `config` or `postconfig`. */
export interface SetupStep {
  type: string;
  parameters: Record<string, unknown>;
}

/** What tells a getter what to fetch. */
export type GetterConfig = { type: string; [field: string]: unknown };

/** An evaluator with its parallel lists made real: one entry a metric. */
export interface Evaluator {
  funcs: string[];
  /** True when `func` was a list; OSWorld combines scores only then. */
  isList: boolean;
  results: (GetterConfig | null)[];
  expecteds: (GetterConfig | null)[];
  options: Record<string, unknown>[];
  conj: 'and' | 'or';
  postconfig: SetupStep[];
}

const getterSchema = z.looseObject({ type: z.string().min(1) });
const stepSchema = z.looseObject({
  type: z.string().min(1),
  parameters: z.record(z.string(), z.unknown()).optional(),
});
/** A getter, nothing, or a list of those; some files write "nothing" as an empty list or object. */
const gettersSchema = z.union([
  getterSchema,
  z.array(z.union([getterSchema, z.strictObject({}), z.null()])),
  z.strictObject({}),
  z.null(),
]);
const optionsSchema = z.record(z.string(), z.unknown());

const fileSchema = z.looseObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'an id holds only letters, digits, ".", "_" and "-"'),
  instruction: z.string().min(1),
  snapshot: z.string().optional(),
  config: z.array(stepSchema).nullish(),
  related_apps: z.array(z.string()).optional(),
  evaluator: z.looseObject({
    func: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
    result: gettersSchema.optional(),
    expected: gettersSchema.optional(),
    options: z.union([optionsSchema, z.array(z.union([optionsSchema, z.null()])), z.null()]).optional(),
    conj: z.enum(['and', 'or']).optional(),
    postconfig: z.array(stepSchema).nullish(),
  }),
});

/**
 * Checks one task file's content and fills `type`, `v`, `task_id` and `domain` (kept when there). The given object is
 * not changed. Throws a DartError that names the field, with `where` as the place.
 */
export function normaliseTask(json: unknown, where: string, domain?: string): Task {
  const parsed = fileSchema.safeParse(json);
  if (!parsed.success) throw schemaError(parsed.error, where);
  const file = parsed.data as Record<string, unknown> & z.infer<typeof fileSchema>;
  const { type: _type, v: _v, task_id, domain: ownDomain, ...rest } = file;
  const task = {
    type: 'task',
    v: 1,
    task_id: typeof task_id === 'string' && task_id !== '' ? task_id : file.id,
    domain: firstText(ownDomain, domain, file.snapshot) ?? 'unknown',
    ...rest,
    config: file.config ?? [],
  } as Task;
  evaluatorOf(task, where);
  return task;
}

function firstText(...values: unknown[]): string | undefined {
  return values.find((value): value is string => typeof value === 'string' && value !== '');
}

function schemaError(error: z.ZodError, where: string): DartError {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join('.') || 'the task';
  return new DartError(`${path}: ${issue?.message ?? 'not a task'}`, {
    where,
    hint: 'compare with a file of fixtures/tasks/embedded, which have the form of OSWorld tasks',
  });
}

/** Reads the evaluator's parallel lists (osworld.md §2). Throws a DartError where their lengths disagree. */
export function evaluatorOf(task: Task, where = task.task_id): Evaluator {
  const raw = task.evaluator as z.infer<typeof fileSchema>['evaluator'];
  const isList = Array.isArray(raw.func);
  const funcs = Array.isArray(raw.func) ? raw.func : [raw.func];
  return {
    funcs,
    isList,
    results: aligned('result', raw.result, funcs.length, isList, where).map(getterOrNull),
    expecteds: aligned('expected', raw.expected, funcs.length, isList, where).map(getterOrNull),
    options: aligned('options', raw.options, funcs.length, isList, where).map(
      (value) => (value ?? {}) as Record<string, unknown>,
    ),
    conj: raw.conj ?? 'and',
    postconfig: stepsOf(raw.postconfig),
  };
}

function aligned(field: string, value: unknown, length: number, isList: boolean, where: string): unknown[] {
  if (value === undefined || value === null || isEmpty(value)) return Array(length).fill(null);
  if (!isList) {
    if (!Array.isArray(value)) return [value];
    throw new DartError(`evaluator.${field} is a list, but evaluator.func is one name`, { where });
  }
  if (Array.isArray(value) && value.length === length) return value;
  const found = Array.isArray(value) ? `${value.length} entries` : 'one value';
  throw new DartError(`evaluator.${field} has ${found}, but evaluator.func has ${length}`, {
    where,
    hint: 'give each metric its own entry, null where it needs none',
  });
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function getterOrNull(value: unknown): GetterConfig | null {
  return value === null || isEmpty(value) ? null : (value as GetterConfig);
}

/** The steps of `config` or `postconfig`, parameters always an object. */
export function stepsOf(steps: unknown): SetupStep[] {
  if (!Array.isArray(steps)) return [];
  return steps.map((step) => ({ type: String(step.type), parameters: step.parameters ?? {} }));
}

/** OSWorld's files write booleans as `true`, `"true"` or `1`. */
export function asBoolean(value: unknown): boolean {
  if (typeof value === 'string') return value.toLowerCase() === 'true';
  return value === true || value === 1;
}
