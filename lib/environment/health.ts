import type { Environment } from './environment.ts';

/** OSWorld's controller gives a screenshot ten seconds; a desktop that needs longer is of no use to a rollout. */
const ANSWER_MS = 30_000;

/**
 * Looks whether a desktop answers. One in this process always does.
 * @throws what it failed with, or that it took too long.
 */
export async function lookAt({ guest, serverUrl }: Environment, limitMs = ANSWER_MS): Promise<void> {
  if (serverUrl === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no screenshot within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    await Promise.race([guest.screenshot(), late]);
  } finally {
    clearTimeout(timer);
  }
}
