import type { Summary } from '../stream/records.ts';

/** Fields of a summary without which two success rates are not of one kind, and the options that set them. */
const CONDITIONS: Readonly<Record<string, string>> = {
  max_steps: '--max-steps',
  protocol: '--protocol',
  temperature: '--temperature',
  fail_at_limit: '--fail-at-limit',
  repeats: '--repeats',
};

/**
 * What two evaluations were not alike in, a line each: `--max-steps 15 before, 30 now`. What one of the summaries does not
 * say (`dart-eval score` knows none of it) is not compared.
 */
export function differingConditions(before: Summary | null, now: Summary | null): string[] {
  if (before === null || now === null) return [];
  return Object.entries(CONDITIONS).flatMap(([field, option]) => {
    const [was, is] = [before[field], now[field]];
    return was === undefined || is === undefined || was === is ? [] : [`${option} ${was} before, ${is} now`];
  });
}
