import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DartError, messageOf } from '../errors.ts';
import { refuseCompressed } from '../stream/compressed.ts';
import { adviceOnLine, parseJsonFile } from '../stream/json.ts';
import { Random } from '../stream/random.ts';
import type { Task } from '../stream/records.ts';
import { normaliseTask } from './task.ts';

/** Which tasks of a file or folder to take. Conditions add up. */
export interface TaskFilter {
  domains?: string[];
  ids?: string[];
  /** Path of a meta list `{domain: [ids]}`, as OSWorld's `test_small.json`. */
  meta?: string;
  /** Take this many at random, the same ones for the same seed. */
  sample?: number;
  seed?: number;
}

export interface LoadOptions {
  /**
   * Takes what is wrong with a line, a file or a task of the source, which is then left out (`--on-error skip`).
   * Without it the first such fault ends the reading.
   */
  onBad?: (error: DartError) => void;
}

/** A task that came before: what is left out is a copy, not a task. */
export class SecondTask extends DartError {}

/** A task with the place it was read from, for messages. */
interface Found {
  task: Task;
  where: string;
}

type Meta = Record<string, string[]>;

const SOURCES = 'a .json file of a task or a meta list, an .ndjson file, or a folder of tasks';

/**
 * Tasks of a `.json` file (one task, or a meta list beside OSWorld's `examples/`), an NDJSON file, or a folder of
 * task files at any depth; a folder's name is the domain of the files in it. Order is by path.
 * Throws a DartError naming `file:line` for bad JSON, and names unknown ids, unknown domains and ids given twice;
 * with `onBad` it leaves out bad JSON, bad tasks and ids that came before.
 */
export async function* loadTasks(
  path: string,
  filter: TaskFilter = {},
  { onBad }: LoadOptions = {},
): AsyncGenerator<Task> {
  const tolerate = tolerant(onBad);
  const found = await withoutDuplicates(await readTasks(path, tolerate), tolerate);
  yield* await filterTasks(
    found.map((item) => item.task),
    filter,
    path,
  );
}

/** Does a piece of work; what is wrong with it is told to `onBad`, or without one thrown. */
type Tolerate = <T>(work: () => T | Promise<T>) => Promise<T | null>;

function tolerant(onBad: LoadOptions['onBad']): Tolerate {
  return async (work) => {
    try {
      return await work();
    } catch (error) {
      if (onBad === undefined || !(error instanceof DartError)) throw error;
      onBad(error);
      return null;
    }
  };
}

/** Applies a filter to tasks from anywhere (`where` names their source in messages). */
export async function filterTasks(tasks: Task[], filter: TaskFilter, where: string): Promise<Task[]> {
  if (tasks.length === 0) throw new DartError('no task came', { where, hint: 'a source that has tasks' });
  let kept = tasks;
  if (filter.meta !== undefined) kept = pickIds(kept, Object.values(await readMeta(filter.meta)).flat(), where);
  if (filter.ids !== undefined) kept = pickIds(kept, filter.ids, where);
  if (filter.domains !== undefined) kept = pickDomains(kept, filter.domains, where);
  if (filter.sample !== undefined && filter.sample < kept.length)
    kept = sampleOf(kept, filter.sample, filter.seed ?? 0);
  if (kept.length === 0) throw new DartError('no task is left', { where, hint: 'loosen the filter' });
  return kept;
}

function pickIds(tasks: Task[], ids: string[], where: string): Task[] {
  const wanted = new Set(ids);
  const kept = tasks.filter((task) => wanted.has(task.task_id) || wanted.has(task.id));
  const known = new Set(kept.flatMap((task) => [task.task_id, task.id]));
  const unknown = [...wanted].filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw new DartError(`unknown task ${unknown.slice(0, 5).join(', ')}${more(unknown.length - 5)}`, {
      where,
      hint: nearest(unknown[0]!, tasks),
    });
  }
  return kept;
}

function more(count: number): string {
  return count > 0 ? ` and ${count} more` : '';
}

function nearest(id: string, tasks: Task[]): string {
  const start = tasks.filter((task) => task.task_id.startsWith(id.slice(0, 4))).map((task) => task.task_id);
  const shown = (start.length > 0 ? start : tasks.map((task) => task.task_id)).slice(0, 3);
  return shown.length > 0 ? `one of ${tasks.length} ids, such as ${shown.join(', ')}` : 'a source that has tasks';
}

function pickDomains(tasks: Task[], domains: string[], where: string): Task[] {
  const known = new Set(tasks.map((task) => task.domain));
  const unknown = domains.filter((domain) => !known.has(domain));
  if (unknown.length > 0) {
    const hint = `one of ${[...known].sort().join(', ')}`;
    throw new DartError(`unknown domain ${unknown.join(', ')}`, { where, hint });
  }
  return tasks.filter((task) => domains.includes(task.domain));
}

/** `count` of the tasks, in their old order. */
function sampleOf(tasks: Task[], count: number, seed: number): Task[] {
  const order = new Random(seed).shuffle(tasks.map((_, index) => index));
  const chosen = new Set(order.slice(0, count));
  return tasks.filter((_, index) => chosen.has(index));
}

async function withoutDuplicates(found: Found[], tolerate: Tolerate): Promise<Found[]> {
  const seen = new Map<string, string>();
  const kept: Found[] = [];
  for (const item of found) {
    const { task, where } = item;
    await tolerate(() => {
      const first = seen.get(task.task_id);
      if (first !== undefined) throw new SecondTask(`task ${task.task_id} is already in ${first}`, { where });
      seen.set(task.task_id, where);
      kept.push(item);
    });
  }
  return kept;
}

async function readTasks(path: string, tolerate: Tolerate): Promise<Found[]> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new DartError('no such task file or folder', { where: path, cause });
  });
  if (info.isDirectory()) return readFolder(path, tolerate);
  if (/\.(ndjson|jsonl)$/.test(path)) return readLines(path, tolerate);
  const read = async () => {
    const json = await readJson(path);
    return isMeta(json) ? json : fileTask(json, path);
  };
  const one = await tolerate(read);
  if (one === null) return [];
  return isMeta(one) ? readListed(path, one, tolerate) : [one as Found];
}

function present(found: readonly (Found | null)[]): Found[] {
  return found.filter((item) => item !== null);
}

async function readFolder(path: string, tolerate: Tolerate): Promise<Found[]> {
  const names = await readdir(path, { recursive: true });
  const files = names.filter((name) => name.endsWith('.json')).sort();
  const found: (Found | null)[] = [];
  for (const file of files.map((name) => join(path, name))) {
    const read = async () => {
      const json = await readJson(file);
      // OSWorld keeps its meta lists beside the task folders.
      return isMeta(json) ? null : fileTask(json, file);
    };
    found.push(await tolerate(read));
  }
  const tasks = present(found);
  if (tasks.length === 0) throw new DartError('no task files (*.json) in this folder', { where: path });
  return tasks;
}

/** The files that a meta list names: `examples/<domain>/<id>.json` or `<domain>/<id>.json` beside it. */
async function readListed(path: string, meta: Meta, tolerate: Tolerate): Promise<Found[]> {
  const beside = join(dirname(path), 'examples');
  const root = await stat(beside).then(
    () => beside,
    () => dirname(path),
  );
  const files = Object.entries(meta).flatMap(([domain, ids]) =>
    ids.map((id) => join(root, plainName(domain, path), `${plainName(id, path)}.json`)),
  );
  const read = (file: string) => tolerate(async () => fileTask(await readJson(file), file));
  return present(await Promise.all(files.map(read)));
}

function plainName(name: string, where: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) return name;
  throw new DartError(`"${name}" is not a task id or domain`, { where, hint: 'ids and domains without "/" or ".."' });
}

async function readLines(path: string, tolerate: Tolerate): Promise<Found[]> {
  const found: (Found | null)[] = [];
  for (const [index, line] of (await readText(path)).split('\n').entries()) {
    if (line.trim() === '') continue;
    const where = `${path}:${index + 1}`;
    found.push(await tolerate(() => ({ task: normaliseTask(parseLine(line, where), where), where })));
  }
  return present(found);
}

function fileTask(json: unknown, file: string): Found {
  return { task: normaliseTask(json, file, basename(dirname(file))), where: file };
}

/** Reads a meta list. Throws a DartError if the file is something else. */
export async function readMeta(path: string): Promise<Meta> {
  const json = await readJson(path);
  if (isMeta(json)) return json;
  throw new DartError('not a meta list', { where: path, hint: 'a file such as {"chrome": ["id", …], "os": […]}' });
}

function isMeta(json: unknown): json is Meta {
  if (typeof json !== 'object' || json === null || Array.isArray(json) || 'evaluator' in json) return false;
  const lists = Object.values(json);
  return lists.length > 0 && lists.every((list) => Array.isArray(list) && list.every((id) => typeof id === 'string'));
}

async function readJson(path: string): Promise<unknown> {
  return parseJsonFile(await readText(path), path, SOURCES);
}

async function readText(path: string): Promise<string> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new DartError(`cannot read the task: ${messageOf(cause)}`, { where: path, cause });
  });
  refuseCompressed(bytes, path);
  const text = bytes.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function parseLine(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const hint = adviceOnLine(text) ?? 'one task a line';
    throw new DartError(`not JSON: ${messageOf(cause)}`, { where, hint, cause });
  }
}
