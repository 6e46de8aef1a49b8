import { DartError } from '../errors.ts';
import type { Action } from '../guest/guest.ts';
import type { Policy, PolicyReply } from './policy.ts';
import { unscoredReply } from './unscored.ts';

const ACTIONS: Readonly<Record<string, Action>> = {
  finished: { type: 'finished' },
  fail: { type: 'fail' },
  wait: { type: 'wait' },
};

/** Says the same thing at every step. `fixed:finished` must score 0 on feasible tasks, `fixed:fail` 1 on infeasible. */
export class FixedPolicy implements Policy {
  readonly name: string;
  readonly coordinates = 'absolute';
  readonly version = 0;
  readonly #action: Action;

  /** Throws a DartError on an action that is not in the table. */
  constructor(action: string) {
    const known = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined;
    if (!known) {
      throw new DartError(`unknown fixed policy "${action}"`, {
        where: '--policy',
        hint: Object.keys(ACTIONS)
          .map((name) => `fixed:${name}`)
          .join(', '),
      });
    }
    this.name = `fixed:${action}`;
    this.#action = known;
  }

  async act(): Promise<PolicyReply> {
    return unscoredReply(this.#action);
  }

  async close(): Promise<void> {}
}
