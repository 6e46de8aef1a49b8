import type { Scored } from './success.ts';

/** One trajectory of a group that is learned from. */
export interface Member {
  trajectory: Scored;
  /** Put there by the experience pool. */
  injected: boolean;
}
