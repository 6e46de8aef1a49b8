import type { AccessibleNode } from '../guest/guest.ts';
import type { Task } from '../stream/records.ts';
import type { PolicyRequest } from './policy.ts';

/** A task record with nothing to set up, for tests. */
export function someTask(task_id = 'os/one', more: Record<string, unknown> = {}): Task {
  const [domain, id] = task_id.split('/') as [string, string];
  return { type: 'task', v: 1, task_id, domain, id, instruction: 'do it', evaluator: { func: 'infeasible' }, ...more };
}

/** A request on a 160 × 120 screen with an empty desktop, for tests. */
export function someRequest(more: Partial<PolicyRequest> = {}): PolicyRequest {
  const empty: AccessibleNode = { role: 'desktop-frame', name: '', states: [], children: [] };
  return {
    task: someTask(),
    instruction: 'do it',
    screen: { width: 160, height: 120 },
    frames: [],
    history: [],
    stepIndex: 0,
    maxSteps: 15,
    sampling: { temperature: 1 },
    seed: 1,
    accessibility: async () => empty,
    ...more,
  };
}
