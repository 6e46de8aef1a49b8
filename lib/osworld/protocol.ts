import { DartError } from '../errors.ts';

/**
 * What a score is to be compared with (docs/osworld.md):
 * - `verified`: OSWorld-Verified as it is run, its known mistakes in scoring included;
 * - `strict`: those mistakes repaired;
 * - `hard`: as verified, and nobody but the policy itself may say that a task is infeasible (OSWorld Hard, ARPO).
 */
export const PROTOCOLS = ['verified', 'strict', 'hard'] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

/**
 * That nothing puts a FAIL in the place of a policy's last action where that is forbidden.
 * @throws DartError for `hard` with such a substitution.
 */
export function refuseSubstitution(protocol: ProtocolName, failAtLimit: boolean): void {
  if (protocol !== 'hard' || !failAtLimit) return;
  throw new DartError('the Hard protocol forbids to count the last action at the step limit as FAIL', {
    where: '--fail-at-limit',
    hint: 'leave it out, or dart-eval with --protocol verified',
  });
}
