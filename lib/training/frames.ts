import { DartError, messageOf } from '../errors.ts';
import type { BlobStore } from '../stream/blobs.ts';
import { decodePicture, type Picture } from './pictures.ts';

/** Decoded screenshots by sha256, the most recently used kept: group members see many of the same screens. */
export class FrameCache {
  readonly #blobs: Pick<BlobStore, 'readSync' | 'path'>;
  readonly #capacity: number;
  readonly #kept = new Map<string, Picture>();
  /** How often a frame was read from the disk. */
  misses = 0;

  /** @param capacity Frames kept; one of 160x120 is 58 kB. */
  constructor(blobs: Pick<BlobStore, 'readSync' | 'path'>, capacity = 1024) {
    this.#blobs = blobs;
    this.#capacity = capacity;
  }

  /**
   * @param where The sample that asks, for the message.
   * @throws DartError naming the sample and the file that is missing or broken.
   */
  get(sha256: string, where: string): Picture {
    const found = this.#kept.get(sha256);
    if (found) {
      this.#kept.delete(sha256);
      this.#kept.set(sha256, found);
      return found;
    }
    const picture = this.#load(sha256, where);
    this.misses += 1;
    this.#kept.set(sha256, picture);
    if (this.#kept.size > this.#capacity) this.#kept.delete(this.#kept.keys().next().value as string);
    return picture;
  }

  #load(sha256: string, where: string): Picture {
    try {
      return decodePicture(this.#blobs.readSync(sha256), this.#blobs.path(sha256));
    } catch (error) {
      throw new DartError(`the screenshot of this step cannot be had: ${messageOf(error)}`, { where, cause: error });
    }
  }
}
