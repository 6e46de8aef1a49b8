import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../stream/files.ts';
import type { AnyRecord } from '../stream/records.ts';
import type { TrainerState } from './state.ts';
import { damageOf, POLICY_FILE, readManifest, versionFolder } from './versions.ts';

/** When an evaluation makes the trainer go back; of two conditions both must hold. */
export interface RollbackRules {
  /** The score is lower than the best one by more than this; null does not ask. */
  drop: number | null;
  /** The upper end of the score's interval lies below the best score. */
  interval: boolean;
}

/** What an evaluation says of a version. */
export interface Evaluated {
  version: number;
  /** Success rate over the tasks that could be scored, with its 95% interval. */
  score: number;
  low: number | null;
  high: number | null;
  /** How it was measured: scores are compared only with their like. */
  conditions: Record<string, unknown>;
}

export type Verdict =
  /** Says nothing of this run, for a reason that people should hear. */
  | { is: 'unusable'; why: string }
  /** `best` is this evaluation where `is` says so, else the one that it was compared with. */
  | { is: 'best' | 'good' | 'fallen'; evaluated: Evaluated; best: Evaluated };

/** Fields of dart-eval's summary without which two scores are not of one kind. */
const CONDITIONS = ['tasks', 'max_steps', 'protocol', 'temperature', 'fail_at_limit'] as const;

/** A summary that dart-eval wrote. */
export function isEvaluation(record: AnyRecord): boolean {
  return record.type === 'summary' && record.command === 'dart-eval';
}

/**
 * Compares evaluations of a folder's versions, whoever made them and however late they come, and keeps `best.json`: the
 * version with the highest score so far, which pruning spares.
 */
export class Evaluations {
  readonly #dir: string;
  readonly #rules: RollbackRules;
  /** The newest version with an evaluation that was taken; null until the first one is here. */
  #newest: number | null = null;

  constructor(dir: string, rules: RollbackRules) {
    this.#dir = dir;
    this.#rules = rules;
  }

  /**
   * Takes one evaluation. A version counts as fallen only where the weights of now come from it, and none that is newer was
   * found good. So evaluations that an earlier process took, and that come again after a restart, change nothing:
   * `best.json` says how far it had come with them.
   */
  async take(record: AnyRecord, state: TrainerState): Promise<Verdict> {
    const evaluated = readEvaluation(record);
    if (typeof evaluated === 'string') return { is: 'unusable', why: evaluated };
    const { version } = evaluated;
    if (version > state.updates) return unusable(version, 'is not of this run, which has not come so far');
    const best = readBest(this.#dir);
    const unlike = best === null ? null : differing(best, evaluated);
    if (unlike !== null) return unusable(version, `was measured with ${unlike} at best.json`);
    // Versions that a run which begins again from an older one makes anew were not measured yet.
    this.#newest ??= Math.min(best?.newest ?? -1, state.updates);
    const newer = version > this.#newest;
    this.#newest = Math.max(this.#newest, version);
    if (best === null || evaluated.score > best.score) return this.#keepBest(evaluated);
    const descends = version > best.version && version > (state.rolled_back_at ?? -1);
    // Not kept here: going back is done when its version is published, which keeps that it was. Until then it is still to do.
    if (newer && descends && this.#fell(evaluated, best)) return { is: 'fallen', evaluated, best };
    if (newer) await this.#write(best);
    return { is: 'good', evaluated, best };
  }

  async #write(best: Evaluated): Promise<void> {
    await writeWhole(join(this.#dir, 'best.json'), `${JSON.stringify({ ...best, newest: this.#newest })}\n`);
  }

  async #keepBest(evaluated: Evaluated): Promise<Verdict> {
    const { version, score } = evaluated;
    const lost = lossOf(versionFolder(this.#dir, version), version);
    if (lost !== null)
      return unusable(version, `scored best so far (${score}), but there is no going back to it: ${lost}`);
    await this.#write(evaluated);
    return { is: 'best', evaluated, best: evaluated };
  }

  #fell({ score, high }: Evaluated, best: Evaluated): boolean {
    const { drop, interval } = this.#rules;
    if (drop === null && !interval) return false;
    const far = drop === null || best.score - score > drop;
    const certain = !interval || (high !== null && high < best.score);
    return far && certain;
  }
}

/** What of a version is missing without which the run cannot go back to it; null where it can. */
function lossOf(folder: string, version: number): string | null {
  const damage = damageOf(folder, version);
  if (damage !== null) return damage;
  const files = Object.keys(readManifest(folder)!.files);
  const hasState = files.some((name) => name === 'optimizer.safetensors' || name.startsWith('state/'));
  // The start has no moments, and may be a link to a checkpoint.
  return hasState || version === 0 ? null : 'its optimiser state is no longer kept (--keep-states)';
}

function unusable(version: number, why: string): Verdict {
  return { is: 'unusable', why: `the evaluation of version ${version} ${why}` };
}

/** The numbers of dart-eval's summary, or why they are of no use. */
function readEvaluation(record: AnyRecord): Evaluated | string {
  const { model_version: version, success_rate: score, policy, interrupted } = record;
  if (interrupted === true) return 'an evaluation was interrupted';
  if (typeof version !== 'number') return 'an evaluation does not say which version it measured';
  // A published folder goes by the name of the graph in it.
  if (typeof policy === 'string' && policy.endsWith('.onnx') && policy !== `onnx:${POLICY_FILE}`)
    return `an evaluation measured the file ${policy}, not a version`;
  if (typeof score !== 'number') return `the evaluation of version ${version} scored nothing`;
  const end = (value: unknown) => (typeof value === 'number' ? value : null);
  const known = CONDITIONS.filter((name) => record[name] !== undefined);
  const conditions = Object.fromEntries(known.map((name) => [name, record[name]]));
  return { version, score, low: end(record.success_rate_low), high: end(record.success_rate_high), conditions };
}

/** What `best.json` says; null where there is none with a score. */
function readBest(dir: string): (Evaluated & { newest?: number }) | null {
  try {
    const best = JSON.parse(readFileSync(join(dir, 'best.json'), 'utf8')) as Evaluated & { newest?: number };
    return typeof best.version === 'number' && typeof best.score === 'number' ? best : null;
  } catch {
    return null;
  }
}

/** `max_steps 15, not 30 as`; null where the two are alike. */
function differing(best: Evaluated, { conditions }: Evaluated): string | null {
  for (const name of CONDITIONS) {
    const [was, is] = [best.conditions?.[name], conditions[name]];
    if (was !== undefined && is !== undefined && was !== is) return `${name} ${is}, not ${was} as`;
  }
  return null;
}
