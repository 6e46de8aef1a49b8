import type { Task } from '../stream/records.ts';
import { BatchScheduler } from './batch.ts';
import type { LengthLimits } from './dynamic.ts';
import { type Group, GroupPlanner } from './planner.ts';
import { defaultWindow, type GroupSource, RolloutScheduler, type Scheduler } from './scheduler.ts';
import type { TaskProgress } from './task_progress.ts';

/** What is to be done, and in which order: the same for a session as for its simulation. */
export interface WorkPlan {
  runId: string;
  tasks: readonly Task[];
  /** Rollouts of a group in full (n). */
  rollouts: number;
  /** Passes over the tasks, each on desktops of other seeds; 1 by default. */
  epochs?: number;
  /** Sample until told to stop, instead of so many passes. */
  follow: boolean;
  mode: 'async' | 'batch';
  /** Groups of one batch. */
  batchGroups: number;
  /** Open groups; by default enough for two rounds of all desktops. */
  window?: number;
  seed: number;
  /** Desktops of evaluation: seeds that training never uses, and another one for each rollout instead of each group. */
  evaluation: boolean;
  dynamicRollouts: boolean;
  dynamicLength: boolean;
  limits: LengthLimits;
  /** How often a task gets a group, against 1 for the others; by default all are alike. */
  weight?: (task: Task) => number;
  /** Groups that were done before, by their ids: they are not done again. */
  done?: ReadonlySet<string>;
}

export interface WorkPlanParts {
  progress: TaskProgress;
  desktops: number;
  /** Between two batches, in batch mode. */
  between: (groups: readonly Group[]) => Promise<void>;
  /** Leaves out what others do, where several processes share the work. */
  share?: (groups: GroupSource) => GroupSource;
}

/** The scheduler of a plan. */
export function schedulerOf(plan: WorkPlan, { progress, desktops, between, share }: WorkPlanParts): Scheduler {
  const planner = new GroupPlanner({ ...plan, ...amounts(plan), progress });
  const rest = plan.done ? without(planner, plan.done) : planner;
  const groups = share ? share(rest) : rest;
  if (plan.mode === 'batch') return new BatchScheduler(groups, { groups: plan.batchGroups, between });
  return new RolloutScheduler(groups, plan.window ?? defaultWindow(desktops, plan.rollouts));
}

/** The groups that are not done yet, planned as if nothing were: seeds and ids are those of the whole run. */
function without(groups: GroupSource, done: ReadonlySet<string>): GroupSource {
  return {
    async next() {
      let group = await groups.next();
      while (group && done.has(group.group_id)) group = await groups.next();
      return group;
    },
  };
}

/** Groups of n; for evaluation n groups of one, each on a desktop of its own seed. */
function amounts({ evaluation, rollouts, epochs = 1, follow }: WorkPlan): { rollouts: number; sweeps: number } {
  const sweeps = follow ? Number.POSITIVE_INFINITY : epochs;
  return evaluation ? { rollouts: 1, sweeps: sweeps * rollouts } : { rollouts, sweeps };
}
