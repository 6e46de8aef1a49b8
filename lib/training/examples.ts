import { earlierReplies, earlierScreenshots } from '../stream/history.ts';
import type { Sample, Step, Trajectory } from '../stream/records.ts';
import type { Spelling } from './spelling.ts';

/** One reply to learn from, with all that an objective may ask about it. */
export interface Example {
  /** Trajectory and step: `trajectory:3`. */
  id: string;
  /** `file:line`, trajectory and step, for messages. */
  where: string;
  groupId: string;
  instruction: string;
  history: readonly string[];
  /** sha256 of the screenshot. */
  screenshot: string;
  /** Of the screenshots before it that the prompt held, oldest first. */
  earlierScreenshots: readonly string[];
  /** The prompt's token ids, where the policy told them. */
  promptIds: readonly number[] | null;
  /** The reply, and why it ended. */
  text: string;
  finishReason: string;
  /** Its tokens; empty where the engine spells the text itself. */
  tokens: Int32Array;
  /** Behaviour log-probability of each token, NaN where unscored. */
  rolloutLogp: Float32Array;
  advantage: number;
  /** Score of the trajectory that the step is from. */
  reward: number;
  /** Mean token entropy in nats as the behaviour policy reported it; null where it could not. */
  entropy: number | null;
  temperature: number;
  behaviourVersion: number;
  injected: boolean;
  /** True where the reply had no usable token ids and was spelt with our own vocabulary. */
  tokenised: boolean;
  /** Log-probabilities under the weights at the start of the update, once a pass has made them. */
  oldLogp: Float32Array | null;
}

/** Replies that a prompt may hold (design §6). */
const MAX_HISTORY = 35;

/** Null where the reply cannot be spelt in the model's vocabulary, or is empty. */
export function exampleOfSample(sample: Sample, where: string, spelling: Spelling): Example | null {
  const reply = readReply(sample.step, spelling);
  if (!reply) return null;
  return {
    id: `${sample.trajectory_id}:${sample.step_index}`,
    where: `${where} (${sample.trajectory_id} step ${sample.step_index})`,
    groupId: sample.group_id,
    instruction: sample.instruction,
    history: sample.history,
    earlierScreenshots: sample.screenshots ?? [],
    screenshot: sample.step.observation.screenshot.sha256,
    ...reply,
    advantage: sample.advantage,
    reward: sample.reward,
    entropy: sample.entropy,
    // A greedy or scripted step has no sampling temperature of its own: it is scored as the policy is, at 1.
    temperature: sample.temperature > 0 ? sample.temperature : 1,
    behaviourVersion: sample.behaviour_version,
    injected: sample.injected,
    oldLogp: null,
  };
}

/** The steps of a demonstrated episode, to be imitated; null entries are replies that cannot be spelt. */
export function examplesOfSteps(
  episode: { id: string; instruction: string; steps: readonly Step[] },
  where: string,
  spelling: Spelling,
): (Example | null)[] {
  return episode.steps.map((step, position) => {
    const history = earlierReplies(episode.steps, position, MAX_HISTORY);
    const context = {
      id: episode.id,
      where: `${where} (${episode.id} step ${step.index})`,
      instruction: episode.instruction,
      history,
      earlierScreenshots: earlierScreenshots(episode.steps, position),
    };
    return demonstrated(step, context, spelling);
  });
}

/** As `examplesOfSteps`, of a recorded episode. */
export function examplesOfTrajectory(trajectory: Trajectory, where: string, spelling: Spelling): (Example | null)[] {
  const { trajectory_id: id, instruction, steps } = trajectory;
  return examplesOfSteps({ id, instruction, steps }, where, spelling);
}

/** One step shown by an expert: advantage 1, nothing known of who sampled it. */
export function demonstrated(
  step: Step,
  context: Pick<Example, 'where' | 'instruction' | 'history' | 'earlierScreenshots'> & { id: string },
  spelling: Spelling,
): Example | null {
  const reply = readReply(step, spelling);
  if (!reply) return null;
  return {
    ...context,
    id: `${context.id}:${step.index}`,
    groupId: '',
    screenshot: step.observation.screenshot.sha256,
    ...reply,
    advantage: 1,
    reward: 1,
    entropy: null,
    temperature: 1,
    behaviourVersion: step.model_version,
    injected: false,
    oldLogp: null,
  };
}

type Reply = Pick<Example, 'promptIds' | 'text' | 'finishReason' | 'tokens' | 'rolloutLogp' | 'tokenised'>;

/** The step's own tokens where they are a reply in the model's vocabulary, else its text spelt with it and unscored. */
function readReply(step: Step, spelling: Spelling): Reply | null {
  const { token_ids: ids, logprobs, text, finish_reason: finishReason } = step.response;
  const common = { promptIds: step.prompt.token_ids ?? null, text, finishReason };
  if (ids.length > 0 && spelling.isReply(ids)) {
    // A list of another length cannot be matched to them.
    const matched = logprobs.length === ids.length;
    const rolloutLogp = Float32Array.from(ids, (_, i) => (matched ? scored(logprobs[i]!) : Number.NaN));
    return { ...common, tokens: Int32Array.from(ids), rolloutLogp, tokenised: false };
  }
  const spelt = text === '' ? null : spelling.encodeReply(text);
  if (!spelt || spelt.length === 0) return null;
  const tokens = Int32Array.from(spelt === 'later' ? [] : spelt);
  return { ...common, tokens, rolloutLogp: new Float32Array(tokens.length).fill(Number.NaN), tokenised: true };
}

/** Engines write null, NaN or -9999 for a token that they did not score (design §6). */
function scored(logprob: number | null): number {
  return logprob === null || logprob <= -9999 ? Number.NaN : logprob;
}
