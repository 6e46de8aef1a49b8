import { DartError } from '../errors.ts';

/** A program of the desktop that did not end within its limit. */
export class TookTooLong extends DartError {
  constructor(where: string, limitMs: number) {
    super(`the program did not end within ${limitMs / 1000} s`, { where, hint: 'a longer timeout' });
    this.name = 'TookTooLong';
  }
}

/** How much later than the desktop itself the limit is enforced here, for desktops that do not enforce it, ms. */
const GRACE_MS = 2000;

/** Rejects with TookTooLong when work that has a limit of its own goes on after it. */
export async function within<T>(where: string, limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TookTooLong(where, limitMs)), limitMs + GRACE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
