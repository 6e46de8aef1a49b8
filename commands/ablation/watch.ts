import { linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../lib/store/index.ts';
import { type Cut, placesOf, RUN_ID } from './training.ts';

/** How far a training is. */
export interface Moment {
  /** Since the three processes were started. */
  seconds: number;
  /** Rollouts that have ended. */
  trajectories: number;
  /** The newest published version: updates of the policy. */
  version: number;
}

/** How often it is looked at; a cut is late by so much at most. */
const LOOK_EVERY_MS = 250;

/**
 * Looks at a training while it runs: writes down how far it is, and keeps the newest version whenever a cut is reached.
 * Returns when every cut is, or when `ended` aborts.
 *
 * @returns the moment of each cut that was reached
 */
export async function watchCuts(
  dir: string,
  cuts: readonly Cut[],
  store: Pick<Store, 'countRollouts'>,
  ended: AbortSignal,
  tell: (moment: Moment) => void = () => {},
): Promise<Record<string, Moment>> {
  const began = performance.now();
  const taken: Record<string, Moment> = {};
  const left = new Set(cuts);
  while (left.size > 0 && !ended.aborted) {
    await sleep(LOOK_EVERY_MS, undefined, { signal: ended }).catch(() => {});
    const version = newestVersion(dir);
    if (version === null) continue;
    const trajectories = await store.countRollouts(RUN_ID);
    const moment = { seconds: (performance.now() - began) / 1000, trajectories, version };
    tell(moment);
    for (const cut of left) {
      if (!isReached(cut, moment)) continue;
      if (!keepVersion(dir, cut.name, version)) break;
      taken[cut.name] = moment;
      left.delete(cut);
    }
  }
  return taken;
}

/** True where a moment is at a cut or beyond it. */
export function isReached(cut: Cut, { seconds, trajectories }: Moment): boolean {
  return seconds >= (cut.seconds ?? 0) && trajectories >= (cut.trajectories ?? 0);
}

/** The newest version of a training's published folder; null before there is one. */
export function newestVersion(dir: string): number | null {
  try {
    return JSON.parse(readFileSync(join(placesOf(dir).policy, 'latest.json'), 'utf8')).version;
  } catch {
    return null;
  }
}

/**
 * Keeps a version as a published folder of its own, by links, which cost neither time nor room.
 * @returns false where the trainer took it away meanwhile: there is a newer one then
 */
function keepVersion(dir: string, name: string, version: number): boolean {
  const { policy, cuts } = placesOf(dir);
  const path = `versions/${String(version).padStart(6, '0')}`;
  const target = join(cuts, name);
  try {
    mkdirSync(join(target, path), { recursive: true });
    linkSync(join(policy, 'policy.onnx'), join(target, 'policy.onnx'));
    for (const file of readdirSync(join(policy, path))) linkSync(join(policy, path, file), join(target, path, file));
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  writeFileSync(join(target, 'latest.json'), `${JSON.stringify({ version, path })}\n`);
  return true;
}
