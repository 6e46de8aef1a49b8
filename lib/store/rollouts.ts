import { stepEntropy } from '../stream/entropy.ts';
import type { Trajectory } from '../stream/records.ts';
import { packTrajectory, unpackTrajectory } from './codec.ts';
import { inTransaction, type StoreContext, slices } from './context.ts';
import type { NewRollout, NewRolloutStep, Standing } from './schema.ts';

/** Rows of one statement: 100 steps of 10 columns are well below 32,766 parameters. */
const ROLLOUT_ROWS = 50;
const STEP_ROWS = 100;

export interface InsertOptions {
  /** For trajectories that are stored to be learned from and say nothing about the policy: demonstrations, imports. */
  experience?: boolean;
}

/**
 * Stores trajectories, each once: an id that is there already is left alone, whatever is retried by whomever.
 * @returns how many were new.
 */
export async function insertTrajectories(
  context: StoreContext,
  trajectories: readonly Trajectory[],
  options: InsertOptions = {},
): Promise<number> {
  const missing = await withoutStored(context, trajectories);
  if (missing.length === 0) return 0;
  // Compressed before the transaction begins: nobody should wait for zlib.
  const rows = missing.map((trajectory) => rolloutRow(trajectory, options));
  return inTransaction(context, async (inner) => {
    await insertParents(inner, missing);
    const fresh = await insertRollouts(inner, rows);
    const steps = missing.filter((trajectory) => fresh.has(trajectory.trajectory_id)).flatMap(stepRows);
    for (const part of slices(steps, STEP_ROWS)) await inner.db.insertInto('rollout_step').values(part).execute();
    return fresh.size;
  });
}

/** One trajectory, or null. */
export async function readTrajectory({ db }: StoreContext, trajectoryId: string): Promise<Trajectory | null> {
  const row = await db
    .selectFrom('rollout')
    .select('record')
    .where('trajectory_id', '=', trajectoryId)
    .executeTakeFirst();
  return row ? unpackTrajectory(row.record, trajectoryId) : null;
}

/** What is stored of one group, in order of arrival. */
export async function trajectoriesOfGroup({ db }: StoreContext, groupId: string): Promise<Trajectory[]> {
  const rows = await db
    .selectFrom('rollout')
    .select(['trajectory_id', 'record'])
    .where('group_id', '=', groupId)
    .where('standing', '!=', 'experience')
    .orderBy('rollout_seq')
    .execute();
  return rows.map((row) => unpackTrajectory(row.record, row.trajectory_id));
}

/** How many rollouts of a run are stored, demonstrations and imports aside. */
export async function countRollouts({ db }: StoreContext, runId: string): Promise<number> {
  const row = await db
    .selectFrom('rollout')
    .select((from) => from.fn.countAll<number>().as('count'))
    .where('run_id', '=', runId)
    .where('standing', '!=', 'experience')
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** How many members of each group are stored (different rollout indices); groups without any are absent. */
export async function storedMembers({ db }: StoreContext, groupIds: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const part of slices(groupIds, 200)) {
    const rows = await db
      .selectFrom('rollout')
      .select(['group_id', (eb) => eb.fn.count('rollout_index').distinct().as('members')])
      .where('group_id', 'in', part)
      .where('standing', '!=', 'experience')
      .groupBy('group_id')
      .execute();
    for (const row of rows) counts.set(row.group_id, Number(row.members));
  }
  return counts;
}

/**
 * Trajectories of a run whose group nobody has closed yet: what a curate that died had read, or never got to read.
 * Oldest first.
 */
export async function openTrajectories({ db }: StoreContext, runId: string): Promise<Trajectory[]> {
  const rows = await db
    .selectFrom('rollout')
    .leftJoin('training_group', 'training_group.group_id', 'rollout.group_id')
    .select(['rollout.trajectory_id', 'rollout.record'])
    .where('rollout.run_id', '=', runId)
    .where('rollout.standing', '!=', 'experience')
    .where((eb) => eb.or([eb('training_group.state', 'is', null), eb('training_group.state', '=', 'planned')]))
    .orderBy('rollout.rollout_seq')
    .execute();
  return rows.map((row) => unpackTrajectory(row.record, row.trajectory_id));
}

async function withoutStored(context: StoreContext, trajectories: readonly Trajectory[]): Promise<Trajectory[]> {
  const byId = new Map(trajectories.map((trajectory) => [trajectory.trajectory_id, trajectory]));
  const ids = [...byId.keys()];
  for (const part of slices(ids, 200)) {
    const rows = await context.db
      .selectFrom('rollout')
      .select('trajectory_id')
      .where('trajectory_id', 'in', part)
      .execute();
    for (const row of rows) byId.delete(row.trajectory_id);
  }
  return [...byId.values()];
}

/** The run and the task that a rollout refers to may be known from nothing but this rollout. */
async function insertParents({ db, dialect, now }: StoreContext, trajectories: readonly Trajectory[]): Promise<void> {
  const created_at = now();
  const runs = new Map(trajectories.map((t) => [t.run_id, { run_id: t.run_id, created_at }]));
  const tasks = new Map(
    trajectories.map((t) => [
      t.task_id,
      { task_id: t.task_id, domain: t.domain, instruction: t.instruction, created_at },
    ]),
  );
  await dialect.ignoreDuplicates(db.insertInto('run').values([...runs.values()])).execute();
  for (const part of slices([...tasks.values()], 200)) {
    await dialect.ignoreDuplicates(db.insertInto('task').values(part)).execute();
  }
}

/** @returns ids of the rows that were new: another process may have stored the same trajectory a moment ago. */
async function insertRollouts({ db, dialect }: StoreContext, rows: readonly NewRollout[]): Promise<Set<string>> {
  const fresh = new Set<string>();
  for (const part of slices(rows, ROLLOUT_ROWS)) {
    const ids = part.map((row) => row.trajectory_id);
    const there = await db.selectFrom('rollout').select('trajectory_id').where('trajectory_id', 'in', ids).execute();
    const known = new Set(there.map((row) => row.trajectory_id));
    const missing = part.filter((row) => !known.has(row.trajectory_id));
    if (missing.length === 0) continue;
    await dialect.ignoreDuplicates(db.insertInto('rollout').values(missing)).execute();
    for (const row of missing) fresh.add(row.trajectory_id);
  }
  return fresh;
}

function rolloutRow(trajectory: Trajectory, options: InsertOptions): NewRollout {
  const versions = trajectory.steps.map((step) => step.model_version).concat(trajectory.policy.versions);
  return {
    trajectory_id: trajectory.trajectory_id,
    run_id: trajectory.run_id,
    task_id: trajectory.task_id,
    group_id: trajectory.group_id,
    group_size: trajectory.group_size,
    rollout_index: trajectory.rollout_index,
    env_id: trajectory.env_id,
    policy: trajectory.policy.name,
    min_version: versions.length > 0 ? Math.min(...versions) : null,
    max_version: versions.length > 0 ? Math.max(...versions) : null,
    temperature: trajectory.sampling.temperature,
    standing: standingOf(trajectory, options),
    outcome: trajectory.outcome,
    reward: trajectory.reward,
    error: trajectory.error ?? null,
    steps: trajectory.steps.length,
    started_at: Date.parse(trajectory.started_at),
    finished_at: Date.parse(trajectory.finished_at),
    record: packTrajectory(trajectory),
  };
}

function standingOf(trajectory: Trajectory, options: InsertOptions): Standing {
  if (options.experience) return 'experience';
  return trajectory.reward === null ? 'error' : 'scored';
}

function stepRows(trajectory: Trajectory): NewRolloutStep[] {
  return trajectory.steps.map((step) => ({
    trajectory_id: trajectory.trajectory_id,
    step_index: step.index,
    model_version: step.model_version,
    tokens: step.response.token_ids.length,
    entropy: stepEntropy(step),
    actions: step.actions.map((action) => action.type).join(','),
    parse_error: step.parse_error ?? null,
    screenshot: step.observation.screenshot.sha256,
    policy_ms: step.policy_ms,
    env_ms: step.env_ms,
  }));
}
