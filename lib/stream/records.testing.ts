import type { Sample, Step, Trajectory } from './records.ts';

const SHA = 'a'.repeat(64);

/** A step with only what a test says of its reply. */
export function makeStep(index: number, response: Partial<Step['response']> = {}, screenshot = SHA): Step {
  return {
    index,
    observation: { screenshot: { sha256: screenshot, media_type: 'image/png', width: 2, height: 2 } },
    response: { text: '', token_ids: [], logprobs: [], finish_reason: 'stop', ...response },
    prompt: { history: 0 },
    model_version: 0,
    actions: [],
    policy_ms: 0,
    env_ms: 0,
  };
}

export function makeSample(fields: Partial<Sample> = {}): Sample {
  const step = fields.step ?? makeStep(fields.step_index ?? 0, { text: 'a', token_ids: [1], logprobs: [-1] });
  return {
    type: 'sample',
    v: 1,
    run_id: 'run',
    group_id: 'g',
    group_steps: 1,
    trajectory_id: 't',
    step_index: step.index,
    task_id: 'task',
    domain: 'files',
    instruction: 'do it',
    reward: 1,
    advantage: 1,
    entropy: null,
    injected: false,
    behaviour_version: 0,
    temperature: 1,
    history: [],
    step,
    ...fields,
  };
}

export function makeTrajectory(steps: Step[], fields: Partial<Trajectory> = {}): Trajectory {
  const time = '2025-01-01T00:00:00Z';
  return {
    type: 'trajectory',
    v: 1,
    trajectory_id: 't',
    run_id: 'run',
    group_id: 'g',
    group_size: 1,
    rollout_index: 0,
    task_id: 'task',
    domain: 'files',
    instruction: 'do it',
    env_id: 'e',
    policy: { name: 'script', versions: [0] },
    sampling: { temperature: 1 },
    limits: { max_steps: 30 },
    steps,
    reward: 1,
    outcome: 'success',
    started_at: time,
    finished_at: time,
    ...fields,
  };
}
