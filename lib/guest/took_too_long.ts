import { DartError } from '../errors.ts';

/** A program of the desktop, or what else it was asked for, that did not end within its limit. */
export class TookTooLong extends DartError {
  constructor(where: string, limitMs: number, what = 'the program') {
    super(`${what} did not end within ${limitMs / 1000} s`, {
      where,
      hint: what === 'the program' ? 'a longer timeout' : 'whether the desktop is overloaded',
    });
    this.name = 'TookTooLong';
  }
}

/** How much later than the desktop itself the limit is enforced here, for desktops that do not enforce it, ms. */
const GRACE_MS = 2000;

/** Rejects with TookTooLong when work that has a limit of its own goes on after it. */
export async function within<T>(where: string, limitMs: number, work: Promise<T>, what?: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TookTooLong(where, limitMs, what)), limitMs + GRACE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
