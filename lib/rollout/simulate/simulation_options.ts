import type { WorkItem } from '../scheduler.ts';
import type { UsageReading } from '../usage.ts';
import type { WorkPlan } from '../work_plan.ts';
import type { Staleness } from './staleness.ts';
import { type Workload, workloadTasks } from './workload.ts';

export interface SimulationOptions {
  workload: Workload;
  desktops: number;
  workers: number;
  mode: 'async' | 'batch';
  /** Workers change versions one at a time, or all together. */
  sync: 'one' | 'global';
  /** Virtual seconds after which it ends. */
  seconds: number;
  /** Ends earlier when so many versions are loaded. */
  updates?: number;
  seed: number;
  /** Without a trainer the version never changes. */
  train?: boolean;
  /** What else of the plan is not as the workload has it. */
  plan?: Partial<WorkPlan>;
  /** Ends it at once, with its reason. */
  signal?: AbortSignal;
  /** Told of each rollout that begins and ends, for tests. */
  onItem?: (change: 'begins' | 'ends', item: WorkItem) => void;
}

export interface SimulationEnd {
  usage: UsageReading;
  /** Versions that all workers have loaded. */
  updates: number;
  groups: { finished: number; learned: number };
  /** Of learned rollouts: by how many versions the oldest token was behind when its update began. */
  staleness: Staleness;
}

/** What a simulation does: the workload's tasks in groups of its size, for ever, with fixed number and length. */
export function workPlanOf({ workload, mode, seed, plan }: SimulationOptions): WorkPlan {
  return {
    runId: 'simulated',
    tasks: workloadTasks(workload),
    rollouts: workload.rollouts.value,
    follow: true,
    mode,
    batchGroups: workload.batch_groups.value,
    seed,
    evaluation: false,
    dynamicRollouts: false,
    dynamicLength: false,
    limits: { minSteps: 1, maxSteps: workload.max_steps.value, slack: 0 },
    ...plan,
  };
}
