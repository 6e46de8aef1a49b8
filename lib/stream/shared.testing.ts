import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const required = new Set((process.env.DART_TEST_REQUIRE ?? '').split(',').map((word) => word.trim()));

/** True where `DART_TEST_REQUIRE` (a comma list) names this: then its absence fails tests instead of skipping them. */
export function isRequired(what: string): boolean {
  return required.has(what);
}

/**
 * Hands `value` on. Where it is null, says on stderr in one line what is missing and which tests are left out, or fails
 * if `DART_TEST_REQUIRE` asks for it.
 */
export function orSkip<T>(what: string, value: T | null, missing: string): T | null {
  if (value !== null) return value;
  if (isRequired(what)) throw new Error(`DART_TEST_REQUIRE asks for ${what}, but ${missing}`);
  process.stderr.write(`skipping the tests that need ${what}: ${missing}\n`);
  return null;
}

function findShared(): string | null {
  const root = join(import.meta.dirname, '..', '..');
  const folder = process.env.DART_SHARED ? resolve(process.env.DART_SHARED) : resolve(root, '..', 'shared');
  return orSkip('shared', existsSync(join(folder, 'golden')) ? folder : null, `there is no ${folder}/golden`);
}

/** The folder with golden numbers and real input, or null where it is absent: use with `describe.skipIf(!shared)`. */
export const shared: string | null = findShared();
