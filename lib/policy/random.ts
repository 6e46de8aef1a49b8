import { Random } from '../stream/random.ts';
import type { Policy, PolicyReply, PolicyRequest } from './policy.ts';
import { randomAction } from './random_action.ts';
import { unscoredReply } from './unscored.ts';

/** Random actions, given by the request's seed alone: the floor that any policy must beat. */
export class RandomPolicy implements Policy {
  readonly name = 'random';
  readonly coordinates = 'absolute';
  readonly version = 0;

  async act(request: PolicyRequest): Promise<PolicyReply> {
    return unscoredReply(randomAction(new Random(request.seed), request.screen));
  }

  async close(): Promise<void> {}
}
