import { z } from 'zod';
import { GREATEST_TEMPERATURE, LEAST_TEMPERATURE, TEMPERATURES } from './temperature.ts';

/** Token ids: an array of integers. */
export function wholeNumbers() {
  return quick(z.array(z.number().int()), (value) => Number.isSafeInteger(value));
}

/** What is at most 0 by its nature, or at least 0, may be so far beyond it by rounding. */
export const ROUNDING = 1e-3;

/** Log-probabilities or entropies as they came: an array of finite numbers, null where there is none. */
export function measuredNumbers() {
  return quick(z.array(z.number().nullable()), (value) => value === null || Number.isFinite(value));
}

/** Log-probabilities that are learned from: at most 0, null where there is none. */
export function logProbabilities() {
  const message = 'expected a log-probability, at most 0';
  const plain = z.array(z.number().max(ROUNDING, message).nullable());
  return quick(plain, (value) => value === null || (Number.isFinite(value) && (value as number) <= ROUNDING));
}

/** A sampling temperature; 0 takes the likeliest token. */
export function samplingTemperature() {
  const fits = (value: number) => value === 0 || (value >= LEAST_TEMPERATURE && value <= GREATEST_TEMPERATURE);
  return z.number().nonnegative().refine(fits, `expected a temperature of ${TEMPERATURES}`);
}

/**
 * The same schema, which lets an array through at once when each of its items passes `good`; only others are looked at
 * item by item by zod, which then words the error. Most of a trajectory is such arrays, and zod takes ten times longer
 * over an item than this loop does.
 * @param good accepts nothing that the schema would refuse.
 */
function quick<T extends z.ZodType>(schema: T, good: (item: unknown) => boolean): T {
  const run = schema._zod.run;
  schema._zod.run = (payload, context) => (allGood(payload.value, good) ? payload : run(payload, context));
  return schema;
}

function allGood(value: unknown, good: (item: unknown) => boolean): boolean {
  if (!Array.isArray(value)) return false;
  for (let i = 0; i < value.length; i++) {
    if (!good(value[i])) return false;
  }
  return true;
}
