import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DartError } from '../errors.ts';
import { writeWhole } from '../stream/files.ts';
import type { Checkpoint } from '../stream/records.ts';
import type { Engine } from './engine.ts';
import type { TrippedGuard } from './guards.ts';
import type { TrainerState } from './state.ts';
import {
  bestVersion,
  damageWarnings,
  listVersions,
  pointLatest,
  pruneStates,
  pruneVersions,
  readVersionFile,
  versionFolder,
  writeVersion,
  writeVersionFile,
} from './versions.ts';

/** A group that was closed by somebody else, and why. */
export interface ClosedGroup {
  group_id: string;
  reason: string;
}

/** What the store does for the trainer; `Store` of lib/store is one. */
export interface VersionStore {
  /** Makes the version known and acknowledges the groups learned into it, in one transaction. */
  publishVersion(row: {
    version: number;
    path: string;
    run_id: string;
    groups: string[];
    metrics: Record<string, unknown>;
  }): Promise<{ overruled: ClosedGroup[] }>;
  /** Those of the groups that nobody should learn from any more, with the reason. */
  closedGroups(groupIds: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Closes groups that nobody is to learn from, for a reason. */
  acknowledge(groupIds: readonly string[], how: { reason: string }): Promise<number>;
  latestVersion(runId?: string): Promise<{ version: number; path: string } | null>;
}

/** Which rule ended the run, after which version. */
const STOPPED_FILE = 'stopped.json';

export interface PublisherOptions {
  dir: string;
  runId: string;
  /** How many versions stay. */
  keep: number;
  /** Of how many what a run goes on from stays with them (`state/`); without it of all. */
  keepStates?: number;
  store: VersionStore | null;
}

/**
 * Puts versions where the rollouts find them. The order makes a crash harmless: files whole, then the store's
 * transaction (which acknowledges the groups), then latest.json. Between the first two, the version is unknown and is
 * written over after the restart, its groups come again; between the last two, the restart repairs latest.json.
 */
export class Publisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** The folder that is published into. */
  get dir(): string {
    return this.#options.dir;
  }

  get runId(): string {
    return this.#options.runId;
  }

  /** Those of the groups that the store has closed, with the reason; without a store none. */
  async closed(groupIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { store } = this.#options;
    return store === null || groupIds.length === 0 ? new Map() : store.closedGroups(groupIds);
  }

  /** Tells the store, if there is one, that these groups are not learned from and are not to come again. */
  async passOver(groupIds: readonly string[], reason: string): Promise<void> {
    if (groupIds.length > 0) await this.#options.store?.acknowledge(groupIds, { reason });
  }

  /** @returns the record of the version, and the groups of it that were closed before the store heard of it. */
  async publish(
    engine: Engine,
    state: TrainerState,
    learned: { groups: string[]; metrics: Record<string, unknown> },
  ): Promise<{ checkpoint: Checkpoint; overruled: ClosedGroup[] }> {
    const { dir, runId, keep, keepStates, store } = this.#options;
    const version = state.updates;
    const path = await writeVersion(dir, version, runId, async (folder) => {
      await engine.save(folder, state);
      await writeVersionFile(folder, 'state.json', `${JSON.stringify(state)}\n`);
    });
    const told = await store?.publishVersion({ version, path, run_id: runId, ...learned });
    await pointLatest(dir, version);
    await rm(join(dir, STOPPED_FILE), { force: true });
    const best = bestVersion(dir);
    const spared = best === null ? [version] : [version, best];
    await pruneVersions(dir, keep, spared);
    if (keepStates !== undefined) await pruneStates(dir, keepStates, spared);
    const checkpoint: Checkpoint = { type: 'checkpoint', v: 1, version, path, run_id: runId };
    return { checkpoint, overruled: told?.overruled ?? [] };
  }

  /**
   * The version to go on from: the store's newest where the store knows the run, else the newest whole one in the folder
   * (of which the store then hears, with all groups that were learned until then).
   * @returns null where nothing was published yet.
   * @throws DartError where the store knows a version whose files are gone.
   */
  async newest(): Promise<number | null> {
    const { dir, runId, store } = this.#options;
    const whole = listVersions(dir);
    const newest = whole.at(-1) ?? null;
    const known = (await store?.latestVersion(runId)) ?? null;
    if (known === null && newest !== null) {
      const path = versionFolder(dir, newest);
      const { groups } = readState(path);
      await store?.publishVersion({ version: newest, path, run_id: runId, groups, metrics: {} });
    }
    if (known === null) return newest;
    if (whole.includes(known.version)) return known.version;
    throw new DartError(`version ${known.version} of run '${runId}' is in the store, but not whole in the folder`, {
      where: versionFolder(dir, known.version),
      hint: 'the folder that this run published into (--publish), or another --run-id',
    });
  }

  /** Keeps beside a version that a rule ended the run right after it: the same rule ends it there again. */
  async keepStop(version: number, stop: TrippedGuard): Promise<void> {
    await writeWhole(join(this.#options.dir, STOPPED_FILE), `${JSON.stringify({ version, ...stop })}\n`);
  }

  /** The rule that ended the run right after this version; null where none did, or it went on since. */
  stopAfter(version: number): TrippedGuard | null {
    try {
      const path = join(this.#options.dir, STOPPED_FILE);
      const { version: after, ...stop } = JSON.parse(readFileSync(path, 'utf8')) as TrippedGuard & { version: number };
      return after === version ? stop : null;
    } catch {
      return null;
    }
  }

  /** What to tell of damaged versions that are newer than the one gone on from. */
  warnings(used: number | null): string[] {
    return damageWarnings(this.#options.dir, used);
  }

  /** Loads weights, optimiser and counters of a version, and points latest.json to it. */
  async resume(version: number, engine: Engine): Promise<TrainerState> {
    const state = await this.load(version, engine);
    await pointLatest(this.#options.dir, version);
    return state;
  }

  /** Loads weights and optimiser of a version. @returns the counters that it was published with. */
  async load(version: number, engine: Engine): Promise<TrainerState> {
    const folder = versionFolder(this.#options.dir, version);
    const state = readState(folder);
    await engine.restore(folder, state);
    return state;
  }
}

function readState(folder: string): TrainerState {
  return JSON.parse(Buffer.from(readVersionFile(folder, 'state.json')).toString()) as TrainerState;
}
