import { DartError } from '../errors.ts';

/** What the system's short codes mean, and what a person can do about them. */
const MEANING: Readonly<Record<string, { reason: string; hint?: string }>> = {
  ENOENT: { reason: 'no such file or folder', hint: 'check the path' },
  EACCES: { reason: 'permission denied', hint: 'check who owns it and its mode (ls -l)' },
  EPERM: { reason: 'not permitted', hint: 'check who owns it and its mode (ls -l)' },
  EROFS: { reason: 'the file system is read-only', hint: 'another folder' },
  ENOSPC: { reason: 'the disk is full', hint: 'free some space, or another disk' },
  EDQUOT: { reason: 'the disk quota is used up', hint: 'free some space, or another disk' },
  EFBIG: { reason: 'the file would be too large', hint: 'another file system' },
  EISDIR: { reason: 'it is a folder, not a file', hint: 'a file in it' },
  ENOTDIR: { reason: 'a part of the path is a file, not a folder', hint: 'check the path' },
  EEXIST: { reason: 'it exists already' },
  ELOOP: { reason: 'too many symbolic links', hint: 'check the path' },
  EMFILE: { reason: 'too many open files', hint: 'a higher limit (ulimit -n)' },
  ENAMETOOLONG: { reason: 'the name is too long' },
  EIO: { reason: 'input/output error of the device' },
};

/** The system's code (`ENOENT`) of whatever was thrown, or undefined. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/**
 * A file-system error as people read it: `runs/out.ndjson: cannot write: the disk is full`.
 * A DartError is handed back as it is; so is whatever carries no system code (a bug, not a condition).
 * @param doing What was tried: `read`, `write`, `make the folder`.
 */
export function fileError(error: unknown, doing: string, path: string): unknown {
  if (error instanceof DartError) return error;
  const code = codeOf(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error;
  const known = MEANING[code];
  const reason = known ? known.reason : (error as Error).message;
  return new DartError(`cannot ${doing}: ${reason}`, { where: path, hint: known?.hint, cause: error });
}
