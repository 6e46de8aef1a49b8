import { DartError } from '../errors.ts';
import type { Action, Guest } from '../guest/guest.ts';
import type { Task } from '../stream/records.ts';
import type { AssetCache } from './assets_cache.ts';
import type { Bridge } from './bridge/kinds.ts';

/** How faithfully OSWorld's waits are kept (design §5). */
export interface Protocol {
  /** Factor on the seconds of `sleep` steps: 1 is what the task says, 0 does not wait. */
  sleepScale: number;
  /** Password of the guest's user, for `{CLIENT_PASSWORD}`. */
  clientPassword: string;
  /** `verified` gives OSWorld's own numbers, its known mistakes included; `strict` repairs them (docs/osworld.md). */
  fidelity?: Fidelity;
}

export type Fidelity = 'verified' | 'strict';

/** Waits are as the tasks say: for real desktops. */
export const REAL_PROTOCOL: Protocol = { sleepScale: 1, clientPassword: 'password' };
/** No waits: the embedded desktop is ready at once. */
export const EMBEDDED_PROTOCOL: Protocol = { sleepScale: 0, clientPassword: 'password' };

/** Files that set-up steps (`stdout`) leave for the `cache_file` getter. One per rollout, never shared. */
export type TaskCache = Map<string, Uint8Array>;

/** What every set-up step, getter and metric may use. */
export interface TaskContext {
  task: Task;
  guest: Guest;
  protocol: Protocol;
  cache: TaskCache;
  /** Folder of the files that `download` steps and `cloud_file` getters may take; null: none. */
  assetsDir: string | null;
  /** Where files are taken from that this folder does not have; without one there are no others. */
  assetCache?: AssetCache;
  /** An installed OSWorld (`--python-bridge`); without one, what needs it is unsupported. */
  bridge?: Bridge;
  /** Chrome's debugging port and VLC's web interface, where the desktop publishes them. */
  cdpUrl?: string;
  vlcUrl?: string;
  signal?: AbortSignal;
}

export interface TaskOptions {
  signal?: AbortSignal;
  cdpUrl?: string;
  vlcUrl?: string;
  assetsDir?: string | null;
  assetCache?: AssetCache;
  bridge?: Bridge;
  protocol?: Partial<Protocol>;
  /** Give the same map to `setupTask` and `evaluateTask` when set-up steps write to `stdout` files. */
  cache?: TaskCache;
}

export interface EvaluateOptions extends TaskOptions {
  /** The episode's last action; null when there was none. */
  lastAction: Action | null;
}

/** A task on its guest with what set-up and evaluation share; real waits unless `protocol` says otherwise. */
export function contextOf(task: Task, guest: Guest, options: TaskOptions): TaskContext {
  return {
    task,
    guest,
    protocol: { ...REAL_PROTOCOL, ...options.protocol },
    cache: options.cache ?? new Map(),
    assetsDir: options.assetsDir ?? null,
    assetCache: options.assetCache,
    bridge: options.bridge,
    cdpUrl: options.cdpUrl,
    vlcUrl: options.vlcUrl,
    signal: options.signal,
  };
}

/** A file that a getter brought: its name on the guest or in the cache, and its bytes. */
export interface FetchedFile {
  name: string;
  bytes: Uint8Array;
  /** Files fetched with it (`multi`), by the names that the task gives them: a CSV export beside its workbook. */
  beside?: FetchedFile[];
}

/** True for what a getter fetched as a file. */
export function isFile(value: unknown): value is FetchedFile {
  return typeof value === 'object' && value !== null && 'bytes' in value && 'name' in value;
}

/** Thrown by a result getter for a file that should be there: the score is 0 then (osworld.md §5.4). */
export class MissingFile extends Error {}

/** An error that names the task, for everything in its JSON that cannot be carried out. */
export function taskError(context: TaskContext, message: string, hint?: string): DartError {
  return new DartError(message, { where: context.task.task_id, hint });
}
