import type { Task } from '../stream/records.ts';
import { evaluatorOf, type GetterConfig, type SetupStep, stepsOf } from './task.ts';

/** What a task uses, by the names in its file. Each list has a name once, in order of use. */
export interface Needs {
  steps: string[];
  getters: string[];
  metrics: string[];
  /** URLs of files that set-up steps and getters take. */
  assets: string[];
  /** Addresses of files that no web server gives (`file:`, `ftp:`, none at all): only `--assets DIR` has them. */
  not_fetchable: string[];
  /** Accounts that somebody must have: `googledrive`. */
  accounts: string[];
  /** The task asks for a proxy, for sites that refuse or differ by place. */
  proxy: boolean;
}

/** Reads a task's needs off its file. */
export function needsOf(task: Task): Needs {
  const evaluator = evaluatorOf(task);
  const steps = [...stepsOf(task.config), ...evaluator.postconfig];
  const getters = [...evaluator.results, ...evaluator.expecteds].filter((config) => config !== null);
  const metrics = evaluator.funcs;
  const files = unique([...steps.flatMap(filesOfStep), ...getters.flatMap(filesOfGetter)]);
  return {
    steps: unique(steps.map(({ type }) => type)),
    getters: unique(getters.map(({ type }) => type)),
    metrics: unique(metrics),
    assets: files.filter(isFetchable),
    not_fetchable: files.filter((url) => !isFetchable(url)),
    accounts: unique([...steps.flatMap(accountOfStep), ...getters.flatMap(accountOfGetter)]),
    proxy: task.proxy === true,
  };
}

function filesOfStep({ type, parameters }: SetupStep): string[] {
  if (type === 'download') return listOf(parameters.files).flatMap((file) => urlsIn((file as { url?: unknown })?.url));
  if (type === 'googledrive') return listOf(parameters.args).flatMap((arg) => urlsIn((arg as { url?: unknown })?.url));
  return [];
}

function filesOfGetter({ type, path }: GetterConfig): string[] {
  return type === 'cloud_file' ? listOf(path).flatMap(urlsIn) : [];
}

function accountOfStep({ type, parameters }: SetupStep): string[] {
  if (type === 'googledrive') return ['googledrive'];
  return type === 'login' ? [String(parameters.platform ?? 'login')] : [];
}

function accountOfGetter({ type }: GetterConfig): string[] {
  return type === 'googledrive_file' ? ['googledrive'] : [];
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

/** Only what is taken from a server: `data:` URLs are in the task already. */
function urlsIn(value: unknown): string[] {
  return typeof value === 'string' && !value.startsWith('data:') ? [value] : [];
}

function isFetchable(url: string): boolean {
  return /^https?:\/\//.test(url);
}

function unique<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
