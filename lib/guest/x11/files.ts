import type { ChildProcess } from 'node:child_process';
import { DartError } from '../../errors.ts';
import type { DirectoryTree } from '../guest.ts';
import type { Programs } from './programs.ts';

const MISSING = 44;
const FOLDER = 45;
const NO_FILE = 46;
const TOO_LARGE = 47;
const WRITE = 'mkdir -p -- "$(dirname -- "$1")" && exec cat > "$1"';
const LIST = `[ -d "$1" ] || exit ${MISSING}; exec find "$1" -mindepth 1 -printf '%y/%P\\0'`;
/** Files may be large, and disks slow. */
const LIMIT_MS = 600_000;
/** A file is read whole into memory, here and by who asked for it. */
const MAX_FILE = 256 * 1024 * 1024;
const READ =
  `[ -e "$1" ] || exit ${MISSING}; [ -d "$1" ] && exit ${FOLDER}; [ -f "$1" ] || exit ${NO_FILE}; ` +
  `size=$(stat -Lc %s -- "$1") && [ "$size" -gt ${MAX_FILE} ] && exit ${TOO_LARGE}; ` +
  // A file of /proc has no size, and one that grows another one by now.
  `exec head -c ${MAX_FILE} -- "$1"`;
const REFUSED: Readonly<Record<number, string>> = {
  [FOLDER]: 'it is a folder',
  [NO_FILE]: 'it is no regular file',
  [TOO_LARGE]: `it has more than ${MAX_FILE} bytes`,
};

/** Files of a desktop, read and written by a process of its user: what the user may not, nobody may here. */
export class UserFiles {
  readonly #programs: Programs;
  readonly #where: string;

  constructor(programs: Programs, where: string) {
    this.#programs = programs;
    this.#where = where;
  }

  /** Null when there is no such file. */
  async read(path: string): Promise<Uint8Array | null> {
    const child = this.#programs.spawn(['sh', '-c', READ, 'sh', path], { stdio: ['ignore', 'pipe', 'pipe'] });
    const [bytes, complaint, code] = await Promise.all([collect(child.stdout!), collect(child.stderr!), ended(child)]);
    if (code === MISSING) return null;
    if (code === 0) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    throw this.#error(`cannot read ${path}: ${REFUSED[code ?? 0] ?? complaint.toString().trim()}`);
  }

  /** Makes its folders too. */
  async write(path: string, data: Uint8Array): Promise<void> {
    const { returncode, error } = await this.#programs.run(['sh', '-c', WRITE, 'sh', path], {
      input: data,
      limitMs: LIMIT_MS,
    });
    if (returncode !== 0) throw this.#error(`cannot write ${path}: ${error.trim()}`);
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#programs.run(['test', '-e', path])).returncode === 0;
  }

  /** Null when there is no such folder. */
  async list(path: string): Promise<DirectoryTree | null> {
    const { returncode, output } = await this.#programs.run(['sh', '-c', LIST, 'sh', path], { limitMs: LIMIT_MS });
    if (returncode === MISSING) return null;
    return treeOfList(path, output);
  }

  #error(message: string): DartError {
    return new DartError(message, { where: this.#where });
  }
}

/** A tree from what `find -printf '%y/%P\0'` prints: parents before children, the type as one letter. */
export function treeOfList(path: string, list: string): DirectoryTree {
  const root: DirectoryTree = { type: 'directory', name: nameOf(path.replace(/\/+$/, '')), children: [] };
  const folders = new Map([['', root]]);
  for (const entry of list.split('\0').filter(Boolean)) {
    const below = entry.slice(2);
    const parent = folders.get(below.slice(0, Math.max(below.lastIndexOf('/'), 0)));
    const node: DirectoryTree =
      entry[0] === 'd'
        ? { type: 'directory', name: nameOf(below), children: [] }
        : { type: 'file', name: nameOf(below) };
    if (entry[0] === 'd') folders.set(below, node);
    parent?.children?.push(node);
  }
  return root;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

async function collect(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}
