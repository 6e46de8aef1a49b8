import { readFile } from 'node:fs/promises';
import { DartError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { codeOf, fileError } from '../stream/errno.ts';
import { writeWholeStream } from '../stream/files.ts';
import type { CarriedGroup } from './group.ts';
import type { FilePlace } from './open-file.ts';
import type { StorePlace } from './store-input.ts';

/** What one run leaves to the next. */
export interface CursorState {
  v: 1;
  /** How far each input file has been read. */
  files: FilePlace[];
  /** How far the store has been read. */
  store: StorePlace;
  /** Names of groups that were closed, oldest first. */
  closed: string[];
  /** Newest model version of each run that was heard of; those without a run under an empty name. */
  versions: Record<string, number>;
  /** When the newest trajectory so far had finished, milliseconds since 1970: the clock of --group-timeout. */
  newest: number | null;
}

/** A cursor as it was left: where reading goes on, and the groups that were still incomplete. */
export interface Cursor {
  state: CursorState;
  groups: CarriedGroup[];
}

/** Where a cursor is kept. */
export interface CursorKeeper {
  load(): Promise<Cursor>;
  save(cursor: Cursor): Promise<void>;
}

const EMPTY: CursorState = {
  v: 1,
  files: [],
  store: { rollout_seq: 0, gaps: [] },
  closed: [],
  versions: {},
  newest: null,
};

/** In a file of its own, replaced whole: NDJSON, the state first, then a line for each group. */
export class CursorFile implements CursorKeeper {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async load(): Promise<Cursor> {
    const text = await this.#read();
    if (text === null) return { state: EMPTY, groups: [] };
    if (text.trim() === '') throw notCursor('the cursor is empty', this.#path);
    let values: unknown[];
    try {
      values = text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    } catch (error) {
      throw notCursor('this is not a cursor', this.#path, error);
    }
    const [state, ...groups] = values;
    return { state: checked(state, this.#path), groups: groups.map((group) => checkedGroup(group, this.#path)) };
  }

  async #read(): Promise<string | null> {
    try {
      return await readFile(this.#path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw fileError(error, 'read the cursor', this.#path);
    }
  }

  async save({ state, groups }: Cursor): Promise<void> {
    const lines = [state, ...groups].map((value) => `${JSON.stringify(value)}\n`);
    await writeWholeStream(this.#path, lines);
  }
}

/** In the store, for cursors over the store: members of groups are kept by their ids. */
export class StoreCursor implements CursorKeeper {
  readonly #store: Store;
  readonly #name: string;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = `curate/${name}`;
  }

  async load(): Promise<Cursor> {
    const kept = await this.#store.readCursor<{ state: CursorState; groups: CarriedGroup[] }>(this.#name);
    if (!kept) return { state: EMPTY, groups: [] };
    const groups: CarriedGroup[] = [];
    for (const group of kept.groups) groups.push({ ...group, members: await this.#whole(group.members) });
    return { state: checked(kept.state, `the store's cursor ${this.#name}`), groups };
  }

  async save({ state, groups }: Cursor): Promise<void> {
    const light = groups.map((group) => ({
      ...group,
      members: group.members.map((member) => ({ ...member, trajectory: { ...member.trajectory, steps: [] } })),
    }));
    await this.#store.writeCursor(this.#name, { state, groups: light });
  }

  async #whole(members: CarriedGroup['members']) {
    const whole: CarriedGroup['members'] = [];
    for (const member of members) {
      const stored = member.unusable === null ? await this.#store.trajectory(member.trajectory.trajectory_id) : null;
      whole.push({ ...member, trajectory: stored ?? member.trajectory });
    }
    return whole;
  }
}

function checked(value: unknown, where: string): CursorState {
  if (!isObject(value) || typeof value.v !== 'number') throw notCursor('this is not a cursor', where);
  if (value.v !== 1) {
    throw new DartError(`the cursor has version ${value.v}, this toolkit reads version 1`, {
      where,
      hint: 'a newer version of the toolkit, or another --cursor name',
    });
  }
  const { files, store, closed, versions } = value;
  const isWhole = Array.isArray(files) && files.every(isObject) && Array.isArray(closed);
  if (!isWhole || !isObject(store) || !isObject(versions)) throw notCursor('the cursor is not whole', where);
  return value as unknown as CursorState;
}

function checkedGroup(value: unknown, where: string): CarriedGroup {
  if (isObject(value) && Array.isArray(value.members)) return value as unknown as CarriedGroup;
  throw notCursor('the cursor is not whole', where);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Nobody but a person can say whether reading all of it again does harm. */
function notCursor(what: string, where: string, cause?: unknown): DartError {
  return new DartError(what, {
    where,
    hint: 'another --cursor name, or deleting it: either reads all of the input again, so that samples made before are made again (dart-train --store learns a group once) and groups that waited come from their files, where these are still there; a copy of the cursor from a backup reads again what came after it',
    cause,
  });
}
