import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { DartError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { fileError } from '../stream/errno.ts';
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
    if (!existsSync(this.#path)) return { state: EMPTY, groups: [] };
    try {
      const [first, ...rest] = (await readFile(this.#path, 'utf8')).split('\n').filter(Boolean);
      return { state: checked(JSON.parse(first ?? '{}')), groups: rest.map((line) => JSON.parse(line)) };
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw fileError(error, 'read the cursor', this.#path);
      throw new DartError('this is not a cursor', { where: this.#path, hint: 'another --cursor name', cause: error });
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
    return { state: checked(kept.state), groups };
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

function checked(state: CursorState): CursorState {
  if (state.v === 1) return state;
  throw new DartError(`the cursor has version ${state.v}, this toolkit reads version 1`, {
    hint: 'a newer version of the toolkit, or another --cursor name',
  });
}
