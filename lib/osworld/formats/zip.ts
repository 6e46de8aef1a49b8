import { unzipSync } from 'fflate';

/** Bytes that the entries of one archive may take unpacked, all together: a small file must not fill the memory. */
export const MAX_UNPACKED = 512 * 2 ** 20;

/** An archive whose entries are unpacked when they are asked for. */
export class ZipArchive {
  /** Names of all entries, folders (which end in `/`) too, in the archive's order. */
  readonly names: string[] = [];
  private readonly bytes: Uint8Array;
  private readonly sizes = new Map<string, number>();
  private readonly unpacked = new Map<string, Uint8Array>();

  /** Throws an Error where the bytes are no zip archive. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        if (!this.sizes.has(name)) this.names.push(name);
        this.sizes.set(name, originalSize);
        return false;
      },
    });
    const total = [...this.sizes.values()].reduce((sum, size) => sum + size, 0);
    if (total > MAX_UNPACKED) throw new Error(`the archive unpacks to ${total} bytes, more than ${MAX_UNPACKED}`);
  }

  has(name: string): boolean {
    return this.sizes.has(name);
  }

  /** An entry's bytes; undefined where there is no such entry. Throws an Error where it cannot be unpacked. */
  read(name: string): Uint8Array | undefined {
    if (!this.has(name)) return undefined;
    const known = this.unpacked.get(name);
    if (known !== undefined) return known;
    const bytes = unzipSync(this.bytes, { filter: (entry) => entry.name === name })[name]!;
    this.unpacked.set(name, bytes);
    return bytes;
  }

  /** As `read`, of an entry that must be there. */
  part(name: string): Uint8Array {
    const bytes = this.read(name);
    if (bytes === undefined) throw new Error(`the archive has no ${name}`);
    return bytes;
  }
}
