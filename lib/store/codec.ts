import { createHash } from 'node:crypto';
import { deflateSync, inflateSync } from 'node:zlib';
import { DartError } from '../errors.ts';
import { wellFormedJson } from '../stream/finite.ts';
import type { Trajectory } from '../stream/records.ts';

/** Fast: token ids and log-probabilities shrink little more at higher levels. */
const LEVEL = 1;
/** Texts that fit into a window of so many bits: with the usual one of 15 they take as long to get memory as to deflate. */
const SHORT_WINDOW_BITS = 13;
const SHORT = 2 ** SHORT_WINDOW_BITS;

/**
 * The whole `trajectory` record as zlib-deflated JSON.
 * @param json The record as `wellFormedJson` makes it, where it is at hand.
 */
export function packTrajectory(trajectory: Trajectory, json = wellFormedJson(trajectory)): Uint8Array {
  return deflateSync(json, json.length > SHORT ? { level: LEVEL } : { level: LEVEL, windowBits: SHORT_WINDOW_BITS });
}

/** The inverse of `packTrajectory`; a DartError naming the trajectory where the bytes are damaged. */
export function unpackTrajectory(record: Uint8Array, trajectoryId: string): Trajectory {
  try {
    return JSON.parse(inflateSync(record).toString('utf8')) as Trajectory;
  } catch (error) {
    throw new DartError('the stored record is damaged', { where: `trajectory ${trajectoryId}`, cause: error });
  }
}

/** Hash of what was seen and answered, step by step (32 hex digits). Ids, times and versions do not enter. */
export function fingerprint(trajectory: Trajectory): string {
  const hash = createHash('sha256').update(trajectory.task_id);
  for (const step of trajectory.steps) {
    hash.update('\0').update(step.observation.screenshot.sha256).update('\0').update(step.response.text);
  }
  return hash.digest('hex').slice(0, 32);
}

/** True when every step has tokens and each token a log-probability: then importance weights can be formed. */
export function hasLogprobs(trajectory: Trajectory): boolean {
  return trajectory.steps.every(
    ({ response }) =>
      response.token_ids.length > 0 &&
      response.logprobs.length === response.token_ids.length &&
      response.logprobs.every((logprob) => logprob !== null),
  );
}
