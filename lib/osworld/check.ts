import type { Task } from '../stream/records.ts';
import { GETTERS } from './evaluate.ts';
import { METRICS } from './metrics/index.ts';
import { bridgedMetrics } from './metrics/misc/bridged.ts';
import { type Needs, needsOf } from './needs.ts';
import { STEPS } from './setup.ts';

/** How a task can be set up and scored: by our own code, only with an installed OSWorld, or not at all. */
export type Verdict = 'native' | 'bridge' | 'unsupported';

export interface Check extends Needs {
  verdict: Verdict;
  /** What keeps the task from being native, a line each. */
  reasons: string[];
}

/**
 * Names that are carried out by an installed OSWorld (`--python-bridge`): models that are too heavy to have here
 * (easyocr, librosa), and Google accounts.
 */
export const BRIDGED: Readonly<Record<'steps' | 'getters' | 'metrics', ReadonlySet<string>>> = {
  steps: new Set(['googledrive', 'login']),
  getters: new Set(['googledrive_file']),
  metrics: new Set(Object.keys(bridgedMetrics)),
};

const KNOWN: Readonly<Record<'steps' | 'getters' | 'metrics', ReadonlyMap<string, unknown>>> = {
  steps: STEPS,
  getters: GETTERS,
  metrics: METRICS,
};

/** Whether a task can be scored here, and if not, why. The names come from the registries of what is implemented. */
export function checkTask(task: Task): Check {
  const needs = needsOf(task);
  const missing: string[] = [];
  const bridged: string[] = [];
  for (const [kind, word] of [
    ['steps', 'set-up step'],
    ['getters', 'getter'],
    ['metrics', 'metric'],
  ] as const) {
    for (const name of needs[kind]) {
      if (BRIDGED[kind].has(name)) bridged.push(`${word} ${name} needs the Python bridge`);
      else if (!KNOWN[kind].has(name)) missing.push(`${word} ${name} is not supported`);
    }
  }
  const verdict = missing.length > 0 ? 'unsupported' : bridged.length > 0 ? 'bridge' : 'native';
  return { ...needs, verdict, reasons: [...missing, ...bridged] };
}
