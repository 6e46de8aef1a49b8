import { DartError, messageOf } from '../errors.ts';
import type { FailureReason } from './pool_counts.ts';

/** What a desktop failed with last; a `reason` of null where it was only found to be used up. */
export interface LastFailure {
  error: unknown;
  reason: FailureReason | null;
}

/**
 * What a lease is told when every desktop has been given up.
 * @param names The drivers with their numbers, `docker:4`.
 * @param setups So many set-ups in a row fail before a desktop that answers is given up.
 */
export function noneLeft(names: readonly string[], last: LastFailure | null, setups: number): DartError {
  const where = names.join(', ') || '--env';
  const otherwise = 'other desktops with --env, such as embedded:4';
  if (last === null) return new DartError('no desktop is left; there is none', { where, hint: otherwise });
  const { error, reason } = last;
  const said = error instanceof DartError ? error.statement() : messageOf(error);
  const hint = error instanceof DartError ? error.hint : undefined;
  const [what, advice] =
    reason === 'setup'
      ? [
          `the last one answers, but ${setups} set-ups in a row failed on it`,
          'installing on the desktops what the tasks need, or tasks that they have the programs for',
        ]
      : ['the last one failed', otherwise];
  return new DartError(`no desktop is left; ${what}: ${said}`, { where, hint: hint ?? advice });
}
