import { StoreTrouble, type TroubleKind } from '../trouble.ts';

const EXPLANATIONS: readonly { code: RegExp; message: string; hint: string; kind?: TroubleKind }[] = [
  { code: /^SQLITE_NOTADB/, message: 'this file is not a store', hint: 'another --store path; nothing was changed' },
  { code: /^SQLITE_CORRUPT/, message: 'the store is damaged', hint: 'a backup, or a new --store path' },
  {
    code: /^SQLITE_FULL/,
    message: 'no space left for the store',
    hint: 'freeing disk space, then the same command again',
  },
  {
    code: /^SQLITE_(READONLY|PERM|AUTH)/,
    message: 'the store cannot be written',
    hint: 'a --store path in a folder that you may write to',
  },
  {
    code: /^SQLITE_CANTOPEN/,
    message: 'the store cannot be opened',
    hint: 'a --store path in an existing folder that you may write to',
  },
  {
    code: /^SQLITE_(BUSY|LOCKED)/,
    message: 'another process has been holding the store for too long',
    hint: 'ending the process that holds it',
    kind: 'away',
  },
  { code: /^SQLITE_IOERR/, message: 'reading or writing the store failed', hint: 'looking at the disk' },
];

/** A StoreTrouble for what SQLite says about the file at `path`; errors that are bugs of ours come back unchanged. */
export function explainSqliteError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  const known = EXPLANATIONS.find((entry) => entry.code.test(code));
  if (!known) return error;
  const { kind = 'stuck', message, hint } = known;
  return new StoreTrouble(kind, `${message} (${code})`, { where: path, hint, cause: error });
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}
