import { type Sampling, SCHEMA_VERSION, type Trajectory } from '../stream/records.ts';
import type { EpisodeEnd } from './episode.ts';
import type { WorkItem } from './scheduler.ts';

export interface TrajectoryParts {
  item: WorkItem;
  end: EpisodeEnd;
  runId: string;
  envId: string;
  policy: { name: string; coordinates: string };
  sampling: Sampling;
  started: Date;
  finished: Date;
}

/** The record of one rollout. Its id is given by its group and its place in it. */
export function trajectoryRecord({
  item,
  end,
  runId,
  envId,
  policy,
  sampling,
  started,
  finished,
}: TrajectoryParts): Trajectory {
  const { group, rolloutIndex } = item;
  const versions = [...new Set(end.steps.map((step) => step.model_version))].sort((a, b) => a - b);
  return {
    type: 'trajectory',
    v: SCHEMA_VERSION,
    trajectory_id: `${group.group_id}/${rolloutIndex}`,
    run_id: runId,
    group_id: group.group_id,
    group_size: group.size,
    rollout_index: rolloutIndex,
    task_id: group.task.task_id,
    domain: group.task.domain,
    instruction: group.task.instruction,
    env_id: envId,
    env_seed: group.seed,
    policy: { ...policy, versions },
    sampling,
    limits: { max_steps: group.maxSteps },
    steps: end.steps,
    reward: end.reward,
    outcome: end.outcome,
    ...(end.error === undefined ? {} : { error: end.error }),
    started_at: started.toISOString(),
    finished_at: finished.toISOString(),
  };
}
