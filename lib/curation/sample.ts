import { stepEntropy } from '../stream/entropy.ts';
import { earlierReplies, earlierScreenshots, unseenReplies } from '../stream/history.ts';
import { type Sample, SCHEMA_VERSION, type Trajectory } from '../stream/records.ts';
import { checkLogprobs } from './logprobs.ts';
import type { Member } from './member.ts';
import { noteSource } from './sample-line.ts';
import { samplerBiases } from './sampler.ts';

/** Earlier replies that a prompt holds at most (design §6). */
const MAX_HISTORY = 35;

export interface SampledGroup {
  group_id: string;
  run_id: string;
  members: readonly Member[];
  /** One per member. */
  advantages: readonly number[];
}

export interface Samples {
  samples: Sample[];
  unscoredTokens: number;
  /** Steps that the trainer takes with importance weight 1. */
  stepsWithoutLogprobs: number;
  /** Steps with log-probabilities that the sampler's settings bias. */
  stepsWithSamplerBias: number;
}

/**
 * One `sample` record per step of each member, in order. Everything in them comes from the trajectories and the group:
 * no clock, no counter, so the same input gives the same bytes.
 */
export function makeSamples(group: SampledGroup): Samples {
  const groupSteps = group.members.reduce((sum, member) => sum + member.trajectory.steps.length, 0);
  const result: Samples = { samples: [], unscoredTokens: 0, stepsWithoutLogprobs: 0, stepsWithSamplerBias: 0 };
  for (const [index, member] of group.members.entries()) {
    const { sampling } = member.trajectory;
    // Lines are put together from the steps' own replies only.
    const isWhole = member.trajectory.steps.every((step) => unseenReplies(step).length === 0);
    const isBiased = samplerBiases(sampling).length > 0;
    for (const [position, step] of member.trajectory.steps.entries()) {
      const checked = checkLogprobs(step);
      result.unscoredTokens += checked.unscoredTokens;
      if (checked.withoutLogprobs) result.stepsWithoutLogprobs += 1;
      else if (isBiased) result.stepsWithSamplerBias += 1;
      const sample: Sample = {
        type: 'sample',
        v: SCHEMA_VERSION,
        run_id: group.run_id,
        group_id: group.group_id,
        group_steps: groupSteps,
        trajectory_id: member.trajectory.trajectory_id,
        step_index: step.index,
        task_id: member.trajectory.task_id,
        domain: member.trajectory.domain,
        instruction: member.trajectory.instruction,
        reward: member.trajectory.reward,
        advantage: group.advantages[index]!,
        entropy: stepEntropy(step),
        injected: member.injected,
        behaviour_version: step.model_version,
        temperature: sampling.temperature,
        ...(sampling.top_p === undefined ? {} : { top_p: sampling.top_p }),
        ...(sampling.top_k === undefined ? {} : { top_k: sampling.top_k }),
        history: historyOf(member.trajectory, position),
        ...withScreenshots(member.trajectory, position),
        step: checked.step,
      };
      if (isWhole && checked.step === step) noteSource(sample, { trajectory: member.trajectory, position });
      result.samples.push(sample);
    }
  }
  return result;
}

/** The earlier replies that the prompt of this step held, oldest first. */
function historyOf(trajectory: Trajectory, position: number): string[] {
  const { history } = trajectory.steps[position]!.prompt;
  return earlierReplies(trajectory.steps, position, Math.min(history, MAX_HISTORY));
}

/** Absent where the prompt held no screenshot but the step's own. */
function withScreenshots(trajectory: Trajectory, position: number): { screenshots?: string[] } {
  const screenshots = earlierScreenshots(trajectory.steps, position);
  return screenshots.length > 0 ? { screenshots } : {};
}
