import { createHash } from 'node:crypto';
import { endsEpisode } from '../../stream/action.ts';
import { unseenReplies } from '../../stream/history.ts';
import { type Outcome, SCHEMA_VERSION, type Step, type Trajectory } from '../../stream/records.ts';
import { SUCCESS_ABOVE } from '../success.ts';
import type { Imported, ImportParts } from './importer.ts';
import { note } from './importer.ts';
import type { StatedReward } from './reward.ts';
import { type EpisodeStep, type UsableSteps, usableSteps } from './steps.ts';

/** When nobody says when it was. */
const NO_TIME = '1970-01-01T00:00:00.000Z';

/** An episode as its source tells it, whatever the source is. */
export interface Episode {
  from: 'dart' | 'osworld' | 'jsonl';
  /** For messages. */
  where: string;
  taskId: string;
  domain: string | null;
  instruction: string | null;
  policy: string;
  /** Tells rollouts of one task apart; part of the trajectory's id. */
  trace: string;
  steps: EpisodeStep[];
  reward: StatedReward | null;
  /** What the run itself said went wrong. */
  error: string | null;
  startedAt: string | null;
  finishedAt: string | null;
}

/**
 * The episode as a trajectory, with events before it about what is missing. The id is a hash of what was seen, answered
 * and scored, so that the same files give the same record wherever they lie.
 */
export function* trajectoryOf(episode: Episode, parts: ImportParts): Generator<Imported, void, void> {
  const { where, taskId } = episode;
  const usable = yield* usableSteps(episode);
  const { steps, missing } = usable;
  if (parts.requireScreens && missing.length > 0) {
    parts.count('incomplete_left_out');
    yield note('episode_left_out', where, { task_id: taskId, reason: 'missing_screenshot', missing_steps: missing });
    return;
  }
  parts.count('steps', steps.length);
  parts.count('steps_left_out', missing.length);
  parts.count('parse_errors', steps.filter((step) => step.parse_error !== undefined).length);
  if (steps.length === 0) {
    parts.count('empty_episodes');
    yield note('episode_left_out', where, { task_id: taskId, reason: 'no_steps' });
    return;
  }
  const facts = parts.task(taskId);
  const instruction = episode.instruction ?? facts?.instruction;
  if (instruction === undefined) {
    parts.count('without_instruction');
    yield note('instruction_missing', where, { task_id: taskId });
  }
  const end = outcomeOf(episode, parts.reward);
  if (end.reward === null) {
    parts.count('without_reward');
    yield note('reward_missing', where, { task_id: taskId, outcome: end.outcome, error: end.error });
  }
  const record = recordOf(episode, usable, {
    ...end,
    runId: parts.runId,
    instruction: instruction ?? '',
    domain: facts?.domain,
  });
  if (missing.length > 0) {
    parts.count('incomplete');
    const about = { task_id: taskId, trajectory_id: record.trajectory_id };
    yield note('trajectory_incomplete', where, { ...about, missing: missing.length, missing_steps: missing });
  }
  yield record;
}

interface End {
  reward: number | null;
  outcome: Outcome;
  error?: string;
}

/** An episode without a score was never evaluated, or its evaluator failed: an error is never a reward of 0. */
function outcomeOf(episode: Episode, given: number | null): End {
  const stated = episode.reward ?? (given === null ? null : { reward: given });
  if (stated === null) {
    if (episode.error !== null) return { reward: null, outcome: 'env_error', error: episode.error };
    return { reward: null, outcome: 'evaluator_error', error: 'no reward was recorded' };
  }
  if (stated.reward === null) return stated;
  const { reward } = stated;
  if (reward > SUCCESS_ABOVE) return { reward, outcome: 'success' };
  const last = episode.steps.at(-1)?.actions.at(-1);
  return { reward, outcome: last !== undefined && endsEpisode(last) ? 'failure' : 'truncated' };
}

interface Facts extends End {
  runId: string;
  instruction: string;
  domain: string | undefined;
}

function recordOf(episode: Episode, { steps, missing }: UsableSteps, facts: Facts): Trajectory {
  const { from, taskId, trace, startedAt, finishedAt } = episode;
  const id = `${from}-${hashOf(episode, steps, facts)}`;
  return {
    type: 'trajectory',
    v: SCHEMA_VERSION,
    trajectory_id: id,
    run_id: facts.runId,
    // Nobody planned it together with others.
    group_id: id,
    group_size: 1,
    rollout_index: 0,
    task_id: taskId,
    domain: facts.domain ?? episode.domain ?? 'unknown',
    instruction: facts.instruction,
    env_id: 'imported',
    policy: { name: episode.policy, versions: [0] },
    sampling: { temperature: 1 },
    limits: { max_steps: episode.steps.length },
    steps,
    ...(missing.length === 0 ? {} : { missing_steps: missing }),
    reward: facts.reward,
    outcome: facts.outcome,
    ...(facts.error === undefined ? {} : { error: facts.error }),
    started_at: startedAt ?? NO_TIME,
    finished_at: finishedAt ?? startedAt ?? NO_TIME,
    imported_from: from,
    ...(trace === '' ? {} : { trace_id: trace }),
  };
}

function hashOf({ taskId, trace, startedAt, finishedAt }: Episode, steps: readonly Step[], { reward }: End): string {
  const seen = steps.map((step) => {
    const { observation, response, actions } = step;
    const unseen = unseenReplies(step);
    return [observation.screenshot.sha256, response.text, actions, ...(unseen.length === 0 ? [] : [unseen])];
  });
  const text = JSON.stringify([taskId, trace, startedAt, finishedAt, reward, seen]);
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
