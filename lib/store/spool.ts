import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DartError, messageOf } from '../errors.ts';
import { codeOf } from '../stream/errno.ts';
import { writeWholeStream } from '../stream/files.ts';
import { wellFormedJson } from '../stream/finite.ts';
import { parseRecord } from '../stream/parse.ts';
import { readRecords } from '../stream/reader.ts';
import { SCHEMA_VERSION, type Trajectory } from '../stream/records.ts';

/** How the trajectories of a spool file were to be stored. */
export interface SpoolHow {
  /** See InsertOptions.experience. */
  experience: boolean;
  /** They were to enter the pool, which keeps so many of each task; null: to be stored only. */
  capacity: number | null;
  /** Rollouts, which are handed on once they are stored: nobody has got them yet. */
  unprinted: boolean;
}

/** Trajectories taken from a spool file, in order. */
export interface Spooled {
  path: string;
  how: SpoolHow;
  trajectories: Trajectory[];
}

let serial = 0;

/**
 * Files with what a store that was away could not take. Each is there whole or not at all; the next command that opens
 * the same store takes it up. A file is NDJSON: an `event` record that says what for, then plain `trajectory` records.
 */
export class Spool {
  readonly #folder: string;
  readonly #place: string;
  readonly #prefix: string;

  /** @param place what tells the store from others, without a password. */
  constructor(folder: string, place: string) {
    this.#folder = folder;
    this.#place = place;
    this.#prefix = `${createHash('sha256').update(place).digest('hex').slice(0, 12)}-`;
  }

  /** @returns the path of the new file. */
  async put(trajectories: readonly Trajectory[], how: SpoolHow): Promise<string> {
    serial += 1;
    const path = join(this.#folder, `${this.#prefix}${Date.now()}-${process.pid}-${serial}.ndjson`);
    const head = { type: 'event', v: SCHEMA_VERSION, event: 'spool', store: this.#place, ...how };
    await writeWholeStream(path, linesOf([head, ...trajectories]));
    return path;
  }

  /** Paths of the files that wait for this store, oldest first. */
  waiting(): string[] {
    try {
      const names = readdirSync(this.#folder).filter((name) => name.startsWith(this.#prefix));
      return names
        .filter((name) => name.endsWith('.ndjson'))
        .sort()
        .map((name) => join(this.#folder, name));
    } catch {
      return [];
    }
  }

  /** @throws DartError `path:line: reason` for a file that somebody has changed. */
  async read(path: string): Promise<Spooled> {
    let how: SpoolHow | null = null;
    const trajectories: Trajectory[] = [];
    for await (const { record, where } of readRecords(createReadStream(path), { name: path })) {
      if (record.type === 'trajectory') trajectories.push(parseRecord('trajectory', record, where));
      else if (record.event === 'spool') how = howOf(record);
    }
    if (how === null) throw new DartError('this is no spool file', { where: path, hint: 'moving it elsewhere' });
    return { path, how, trajectories };
  }

  /** Another process may have been quicker. */
  remove(path: string): void {
    try {
      unlinkSync(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw new DartError(messageOf(error), { where: path, cause: error });
    }
  }
}

function howOf(record: Readonly<Record<string, unknown>>): SpoolHow {
  return {
    experience: record.experience === true,
    capacity: typeof record.capacity === 'number' ? record.capacity : null,
    unprinted: record.unprinted === true,
  };
}

function* linesOf(records: readonly unknown[]): Generator<string> {
  for (const record of records) yield `${wellFormedJson(record)}\n`;
}
