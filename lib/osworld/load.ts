import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DartError, messageOf } from '../errors.ts';
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

/** A task with the place it was read from, for messages. */
interface Found {
  task: Task;
  where: string;
}

type Meta = Record<string, string[]>;

/**
 * Tasks of a `.json` file (one task, or a meta list beside OSWorld's `examples/`), an NDJSON file, or a folder of
 * task files at any depth; a folder's name is the domain of the files in it. Order is by path.
 * Throws a DartError naming `file:line` for bad JSON, and names unknown ids, unknown domains and ids given twice.
 */
export async function* loadTasks(path: string, filter: TaskFilter = {}): AsyncGenerator<Task> {
  const found = await readTasks(path);
  refuseDuplicates(found);
  yield* await filterTasks(
    found.map((item) => item.task),
    filter,
    path,
  );
}

/** Applies a filter to tasks from anywhere (`where` names their source in messages). */
export async function filterTasks(tasks: Task[], filter: TaskFilter, where: string): Promise<Task[]> {
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

function refuseDuplicates(found: Found[]): void {
  const seen = new Map<string, string>();
  for (const { task, where } of found) {
    const first = seen.get(task.task_id);
    if (first !== undefined) throw new DartError(`task ${task.task_id} is already in ${first}`, { where });
    seen.set(task.task_id, where);
  }
}

async function readTasks(path: string): Promise<Found[]> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new DartError('no such task file or folder', { where: path, cause });
  });
  if (info.isDirectory()) return readFolder(path);
  if (/\.(ndjson|jsonl)$/.test(path)) return readLines(path);
  const json = await readJson(path);
  if (isMeta(json)) return readListed(path, json);
  return [fileTask(json, path)];
}

async function readFolder(path: string): Promise<Found[]> {
  const names = await readdir(path, { recursive: true });
  const found: Found[] = [];
  for (const name of names.filter((name) => name.endsWith('.json')).sort()) {
    const file = join(path, name);
    const json = await readJson(file);
    // OSWorld keeps its meta lists beside the task folders.
    if (!isMeta(json)) found.push(fileTask(json, file));
  }
  if (found.length === 0) throw new DartError('no task files (*.json) in this folder', { where: path });
  return found;
}

/** The files that a meta list names: `examples/<domain>/<id>.json` or `<domain>/<id>.json` beside it. */
async function readListed(path: string, meta: Meta): Promise<Found[]> {
  const beside = join(dirname(path), 'examples');
  const root = await stat(beside).then(
    () => beside,
    () => dirname(path),
  );
  const files = Object.entries(meta).flatMap(([domain, ids]) =>
    ids.map((id) => join(root, plainName(domain, path), `${plainName(id, path)}.json`)),
  );
  return Promise.all(files.map(async (file) => fileTask(await readJson(file), file)));
}

function plainName(name: string, where: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) return name;
  throw new DartError(`"${name}" is not a task id or domain`, { where, hint: 'ids and domains without "/" or ".."' });
}

async function readLines(path: string): Promise<Found[]> {
  const found: Found[] = [];
  for (const [index, line] of (await readText(path)).split('\n').entries()) {
    const where = `${path}:${index + 1}`;
    if (line.trim() !== '') found.push({ task: normaliseTask(parseJson(line, path, index), where), where });
  }
  return found;
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
  return parseJson(await readText(path), path, 0);
}

async function readText(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new DartError(`cannot read the task: ${messageOf(cause)}`, { where: path, cause });
  });
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function parseJson(text: string, path: string, firstLine: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = messageOf(cause);
    const position = Number(/at position (\d+)/.exec(reason)?.[1] ?? text.length);
    const line = firstLine + text.slice(0, position).split('\n').length;
    throw new DartError(`bad JSON: ${reason}`, { where: `${path}:${line}`, cause });
  }
}
