import type { AnyRecord, Trajectory } from '../stream/records.ts';
import type { Decision } from './decide.ts';
import { groupRejected, samplerBias, successInjected, trajectoryRejected } from './events.ts';
import { leftOut } from './left-out.ts';
import type { PoolRule } from './pool.ts';
import type { GroupReason, TrajectoryReason } from './reasons.ts';
import { makeSamples } from './sample.ts';
import { samplerBiases } from './sampler.ts';
import type { Scored } from './success.ts';
import { count, newTally, type Tally } from './tally.ts';

/** What becomes of decisions in the stream: samples, events that say why there are none, and the counts of both. */
export class Handover {
  readonly tally: Tally = newTally();
  readonly #pool: PoolRule;
  readonly #lacksScreenshot: (trajectory: Trajectory) => boolean;
  /** Runs and policies whose sampler has been told of. */
  readonly #biased = new Set<string>();

  constructor(pool: PoolRule, lacksScreenshot: (trajectory: Trajectory) => boolean) {
    this.#pool = pool;
    this.#lacksScreenshot = lacksScreenshot;
  }

  /**
   * The samples of a decided group, or the event that says why there are none.
   * @param usable what the group had to choose from, where that is known.
   */
  *handOn(decision: Decision, usable: readonly Scored[] = []): Generator<AnyRecord, void, void> {
    if (decision.reason !== null) {
      yield this.reject(decision, decision.reason);
      return;
    }
    // What an earlier run decided may have lost its screenshots since: it would end the trainer.
    if (decision.members.some(({ trajectory }) => this.#lacksScreenshot(trajectory))) {
      yield this.reject(decision, 'missing_screenshot');
      return;
    }
    yield* this.#tellOfMembers(decision, usable);
    const made = makeSamples(decision);
    this.tally.groups += 1;
    this.tally.samples += made.samples.length;
    this.tally.unscoredTokens += made.unscoredTokens;
    this.tally.stepsWithoutLogprobs += made.stepsWithoutLogprobs;
    this.tally.stepsWithSamplerBias += made.stepsWithSamplerBias;
    if (decision.members.some((member) => member.injected)) this.tally.injected += 1;
    if (made.stepsWithSamplerBias > 0) yield* this.#tellOfSamplers(decision);
    yield* made.samples;
  }

  /** Counts a trajectory that is not learned from; @returns the event that says so. */
  drop(trajectory: Trajectory, reason: TrajectoryReason): AnyRecord {
    count(this.tally.rejectedTrajectories, reason);
    return trajectoryRejected(trajectory, reason);
  }

  /** Counts a group that is not handed on; @returns the event that says so. */
  reject(decision: Decision, reason: GroupReason): AnyRecord {
    count(this.tally.rejectedGroups, reason);
    return groupRejected(decision, reason);
  }

  /** What the first decision on the group did with its members. */
  *#tellOfMembers(decision: Decision, usable: readonly Scored[]): Generator<AnyRecord, void, void> {
    const { replaced, trimmed } = leftOut(usable, decision, this.#pool);
    for (const trajectory of trimmed) yield this.drop(trajectory, 'trimmed');
    for (const member of decision.members.filter((each) => each.injected)) {
      const alone = { ...decision, members: [member] };
      const { trajectory_id } = member.trajectory;
      const { stepsWithoutLogprobs } = makeSamples(alone);
      yield successInjected(decision, trajectory_id, replaced?.trajectory_id ?? null, stepsWithoutLogprobs);
    }
  }

  /** Each run, policy and set of settings is told of once. */
  *#tellOfSamplers(decision: Decision): Generator<AnyRecord, void, void> {
    for (const { trajectory } of decision.members) {
      const settings = samplerBiases(trajectory.sampling);
      const name = JSON.stringify([trajectory.run_id, trajectory.policy.name, settings]);
      if (settings.length === 0 || this.#biased.has(name)) continue;
      this.#biased.add(name);
      yield samplerBias(trajectory, settings);
    }
  }
}
