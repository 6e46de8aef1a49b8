import { DartError } from '../errors.ts';

/** A kind of compression, and the program that prints what it holds. */
interface Compression {
  kind: string;
  unpack: string;
  /** The bytes that such a file begins with. */
  magic: readonly number[];
}

const KINDS: readonly Compression[] = [
  { kind: 'gzip', unpack: 'zcat', magic: [0x1f, 0x8b] },
  { kind: 'zstd', unpack: 'zstdcat', magic: [0x28, 0xb5, 0x2f, 0xfd] },
  { kind: 'xz', unpack: 'xzcat', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] },
  { kind: 'bzip2', unpack: 'bzcat', magic: [0x42, 0x5a, 0x68] },
];

/**
 * Says so where bytes from the beginning of an input are compressed: no JSON begins like any of these. As lines they
 * would only be "not UTF-8".
 * @param name a path, or `stdin`.
 * @param command what would read the contents from a pipe, with its subcommands; without it they have to be a file.
 */
export function refuseCompressed(bytes: Uint8Array, name: string, command?: string): void {
  const found = KINDS.find(({ magic }) => magic.every((byte, at) => bytes[at] === byte));
  if (!found) return;
  const printing = `${found.unpack} ${name === 'stdin' ? 'FILE' : name}`;
  const rest = name === 'stdin' ? '…' : '-';
  const hint = command === undefined ? `${printing} > UNPACKED` : `${printing} | ${command} ${rest}`;
  throw new DartError(`it is compressed (${found.kind})`, { where: name, hint });
}
