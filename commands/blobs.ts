import { statSync } from 'node:fs';
import { resolvePath } from '../lib/cli/input.ts';
import type { CommandContext } from '../lib/cli/spec.ts';
import { DartError } from '../lib/errors.ts';
import { BlobStore } from '../lib/stream/blobs.ts';

/**
 * The screenshots that `--blobs` names, for a command that only reads them; null without the option. The folder must be
 * there: at once where all input lies in files or a store, else when the first screenshot is looked for, since the writer
 * at the other end of a pipe makes it with its first record.
 * @throws DartError where there is no such folder: a wrong name must not look like screenshots that were lost.
 */
export function givenBlobs(context: CommandContext): BlobStore | null {
  const { io, options } = context;
  if (options.blobs === undefined) return null;
  if (readsWhatIsThere(context)) requireBlobs(context);
  return new LateBlobs(resolvePath(io, String(options.blobs)), () => requireBlobs(context));
}

/**
 * That the folder of `--blobs`, where one is given, is there.
 * @throws DartError where it is not.
 */
export function requireBlobs({ io, options }: Pick<CommandContext, 'io' | 'options'>): void {
  if (options.blobs === undefined) return;
  const name = String(options.blobs);
  const found = statSync(resolvePath(io, name), { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  const message = found ? `${name} is not a folder` : `there is no folder ${name}`;
  throw new DartError(message, { where: '--blobs', hint: 'the --blobs folder that the rollouts wrote to' });
}

/** True where nothing that is read is still being written. */
export function readsWhatIsThere({ options, positionals }: CommandContext): boolean {
  if (options.follow === true) return false;
  return options['from-store'] === true || (positionals.length > 0 && !positionals.includes('-'));
}

/** Looks for the folder before the first screenshot. */
class LateBlobs extends BlobStore {
  #check: (() => void) | null;

  constructor(dir: string, check: () => void) {
    super(dir);
    this.#check = check;
  }

  override path(sha256: string): string {
    this.#check?.();
    this.#check = null;
    return super.path(sha256);
  }
}
