import { createHash } from 'node:crypto';
import type { Outcome, Step, Trajectory } from '../stream/records.ts';

export interface Sketch {
  id: string;
  task?: string;
  run?: string;
  group?: string;
  size?: number;
  index?: number;
  reward?: number | null;
  outcome?: Outcome;
  steps?: number;
  version?: number;
  /** Minutes after midnight at which it finished. */
  minute?: number;
  /** No token ids and log-probabilities, like a demonstration by the script policy. */
  bare?: boolean;
  /** Text of the replies; two sketches with the same replies are the same episode. */
  reply?: string;
}

/** A whole trajectory from the few fields that a test is about. */
export function trajectory(sketch: Sketch): Trajectory {
  const reward = sketch.reward === undefined ? 0 : sketch.reward;
  const task = sketch.task ?? 'chrome/t1';
  const version = sketch.version ?? 0;
  const count = sketch.steps ?? 2;
  const finished = new Date(Date.UTC(2025, 0, 1, 0, sketch.minute ?? 0)).toISOString();
  return {
    type: 'trajectory',
    v: 1,
    trajectory_id: sketch.id,
    run_id: sketch.run ?? 'run1',
    group_id: sketch.group ?? 'g1',
    group_size: sketch.size ?? 2,
    rollout_index: sketch.index ?? 0,
    task_id: task,
    domain: task.split('/')[0] ?? task,
    instruction: `do ${task}`,
    env_id: 'embedded-0',
    policy: { name: sketch.bare ? 'script' : 'onnx', versions: [version] },
    sampling: { temperature: 1, seed: 7 },
    limits: { max_steps: 30 },
    steps: Array.from({ length: count }, (_, index) => step(sketch, index, version)),
    reward,
    outcome: sketch.outcome ?? (reward === null ? 'env_error' : reward > 0.5 ? 'success' : 'failure'),
    started_at: '2025-01-01T00:00:00.000Z',
    finished_at: finished,
  };
}

function step(sketch: Sketch, index: number, version: number): Step {
  const text = `${sketch.reply ?? sketch.id} ${index}`;
  return {
    index,
    observation: {
      screenshot: {
        sha256: createHash('sha256').update(text).digest('hex'),
        media_type: 'image/png',
        width: 160,
        height: 120,
      },
    },
    response: {
      text,
      token_ids: sketch.bare ? [] : [5, 6],
      logprobs: sketch.bare ? [] : [-0.25, -0.5],
      ...(sketch.bare ? {} : { entropies: [0.5, 1] }),
      finish_reason: 'stop',
    },
    prompt: { history: index },
    model_version: version,
    actions: [{ type: 'click', x: 4, y: 4 }],
    policy_ms: 1,
    env_ms: 1,
  };
}
