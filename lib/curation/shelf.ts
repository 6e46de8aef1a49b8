import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileError } from '../stream/errno.ts';
import type { Trajectory } from '../stream/records.ts';
import { temporaryName } from '../stream/temporary.ts';
import { keepLine, lineOf } from './raw.ts';

/** A trajectory that is held until its group closes; on the shelf it has no steps. */
export interface Held {
  trajectory: Trajectory;
}

interface Place {
  segment: Segment;
  offset: number;
  length: number;
}

/** A file of the shelf; it has no name any more, so it goes with the process. */
interface Segment {
  file: FileHandle;
  size: number;
  /** Places that are still needed. */
  used: number;
}

const SEGMENT_BYTES = 64 * 1024 * 1024;

/**
 * Bounds the memory of what is held: beyond `limit` bytes of trajectories (as they came, a JSON line each) the oldest
 * are put into temporary files, whatever number of groups is open. Nothing is lost and no decision changes.
 */
export class Shelf {
  readonly #limit: number;
  readonly #folder: string;
  /** In memory, oldest first, with their bytes. */
  readonly #near = new Map<Held, number>();
  readonly #far = new Map<Held, Place>();
  #bytes = 0;
  #writing: Segment | null = null;
  /** Most bytes that were in memory, and bytes put into files so far. */
  readonly seen = { peak: 0, spilled: 0 };

  constructor(limit: number, folder: string = tmpdir()) {
    this.#limit = limit;
    this.#folder = folder;
  }

  /** Takes note of a trajectory, and puts the oldest away where it is too much. */
  async hold(held: Held): Promise<void> {
    const bytes = this.#lineOf(held.trajectory).byteLength;
    this.#near.set(held, bytes);
    this.#bytes += bytes;
    for (const [oldest] of this.#near) {
      if (this.#bytes <= this.#limit) break;
      await this.#putAway(oldest);
    }
    this.seen.peak = Math.max(this.seen.peak, this.#bytes);
  }

  /** The whole trajectory, wherever it is; what is held does not move. */
  async read(held: Held): Promise<Trajectory> {
    const place = this.#far.get(held);
    if (!place) return held.trajectory;
    const line = Buffer.allocUnsafe(place.length);
    await this.#disk('read', () => place.segment.file.read(line, 0, place.length, place.offset));
    const trajectory = JSON.parse(line.toString('utf8')) as Trajectory;
    keepLine(trajectory, line);
    return trajectory;
  }

  /** It is needed no longer. */
  async release(held: Held): Promise<void> {
    this.#bytes -= this.#near.get(held) ?? 0;
    this.#near.delete(held);
    const place = this.#far.get(held);
    this.#far.delete(held);
    if (!place) return;
    place.segment.used -= 1;
    if (place.segment.used === 0 && place.segment !== this.#writing) await place.segment.file.close();
  }

  /** Takes it off the shelf: whole again, and counted no longer. */
  async take(held: Held): Promise<void> {
    held.trajectory = await this.read(held);
    await this.release(held);
  }

  async close(): Promise<void> {
    const segments = new Set([...this.#far.values()].map((place) => place.segment));
    if (this.#writing) segments.add(this.#writing);
    this.#far.clear();
    this.#near.clear();
    this.#writing = null;
    for (const segment of segments) await segment.file.close();
  }

  async #putAway(held: Held): Promise<void> {
    const line = this.#lineOf(held.trajectory);
    const segment = await this.#segmentFor(line.byteLength);
    const place = { segment, offset: segment.size, length: line.byteLength };
    // From where the last one ended: reads say their place and do not move it.
    await this.#disk('write', () => segment.file.writeFile(line));
    segment.size += line.byteLength;
    segment.used += 1;
    this.#bytes -= this.#near.get(held)!;
    this.#near.delete(held);
    this.#far.set(held, place);
    this.seen.spilled += line.byteLength;
    held.trajectory = { ...held.trajectory, steps: [] };
  }

  async #segmentFor(bytes: number): Promise<Segment> {
    const present = this.#writing;
    if (present && present.size + bytes <= SEGMENT_BYTES) return present;
    this.#writing = await this.#disk('write', () => this.#newSegment());
    if (present?.used === 0) await present.file.close();
    return this.#writing;
  }

  async #newSegment(): Promise<Segment> {
    const path = temporaryName(join(this.#folder, 'dart-curate'));
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return { file, size: 0, used: 0 };
  }

  async #disk<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw fileError(error, `${what} held trajectories`, this.#folder);
    }
  }

  #lineOf(trajectory: Trajectory): Uint8Array {
    const line = lineOf(trajectory);
    if (line) return line;
    const made = Buffer.from(JSON.stringify(trajectory));
    keepLine(trajectory, made);
    return made;
  }
}
