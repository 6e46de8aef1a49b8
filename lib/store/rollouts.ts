import { stepEntropy } from '../stream/entropy.ts';
import type { Trajectory } from '../stream/records.ts';
import { BulkInsert } from './bulk.ts';
import { packTrajectory, unpackTrajectory } from './codec.ts';
import { inTransaction, type StoreContext, slices, slicesOfBytes } from './context.ts';
import { giveBack } from './leases.ts';
import { ensureRuns, ensureTasks } from './parents.ts';
import type { NewRollout, NewRolloutStep, Standing } from './schema.ts';

/** Rows of one statement: 100 steps of 10 columns are well below 32,766 parameters. */
const ROLLOUT_ROWS = 50;
const STEP_ROWS = 100;
/** About what a row has beside the record. */
const ROW_BYTES = 2048;

const insertRows = new BulkInsert('rollout', [
  ...(['trajectory_id', 'run_id', 'task_id', 'group_id', 'group_size', 'rollout_index', 'env_id', 'policy'] as const),
  ...(['min_version', 'max_version', 'temperature', 'standing', 'outcome', 'reward', 'error', 'steps'] as const),
  ...(['started_at', 'finished_at', 'record'] as const),
]);
const insertSteps = new BulkInsert('rollout_step', [
  ...(['trajectory_id', 'step_index', 'model_version', 'tokens', 'entropy', 'actions', 'parse_error'] as const),
  ...(['screenshot', 'policy_ms', 'env_ms'] as const),
]);

export interface InsertOptions {
  /** For trajectories that are stored to be learned from and say nothing about the policy: demonstrations, imports. */
  experience?: boolean;
  /** Who made them: its leases on these rollouts end in the same transaction. */
  doneBy?: string;
  /** JSON of some of them, as `wellFormedJson` makes it, where somebody has made it already. */
  json?: ReadonlyMap<Trajectory, string>;
}

/**
 * Stores trajectories, each once: an id that is there already is left alone, whatever is retried by whomever. Only a
 * rollout that ended in an error gives way to one of the same id that was scored: it was done again.
 * @returns how many were new.
 */
export async function insertTrajectories(
  context: StoreContext,
  trajectories: readonly Trajectory[],
  options: InsertOptions = {},
): Promise<number> {
  const { missing, redone } = await compareWithStored(context, trajectories);
  const { doneBy } = options;
  if (missing.length === 0) {
    if (doneBy !== undefined) await inTransaction(context, (inner) => giveBack(inner, doneBy, trajectories));
    return 0;
  }
  // Compressed before the transaction begins: nobody should wait for zlib.
  const rows = missing.map((trajectory) => rolloutRow(trajectory, options));
  return inTransaction(context, async (inner) => {
    await ensureRuns(
      inner,
      missing.map((trajectory) => trajectory.run_id),
    );
    await ensureTasks(inner, missing);
    if (redone.length > 0) await removeErrors(inner, redone);
    const { fresh, ours } = await insertRollouts(inner, rows);
    const steps = missing.filter((trajectory) => ours.has(trajectory.trajectory_id)).flatMap(stepRows);
    for (const part of slices(steps, STEP_ROWS)) await insertSteps.ignoreDuplicates(inner, part);
    if (doneBy !== undefined) await giveBack(inner, doneBy, trajectories);
    return fresh;
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

interface Comparison {
  /** To be stored, each once. */
  missing: Trajectory[];
  /** Ids of those whose place is taken by an error. */
  redone: string[];
}

async function compareWithStored({ db }: StoreContext, trajectories: readonly Trajectory[]): Promise<Comparison> {
  const byId = new Map<string, Trajectory>();
  for (const trajectory of trajectories) {
    if (byId.get(trajectory.trajectory_id)?.reward == null) byId.set(trajectory.trajectory_id, trajectory);
  }
  const redone: string[] = [];
  for (const ids of slices([...byId.keys()], 200)) {
    const rows = await db
      .selectFrom('rollout')
      .select(['trajectory_id', 'standing'])
      .where('trajectory_id', 'in', ids)
      .execute();
    for (const { trajectory_id, standing } of rows) {
      if (standing === 'error' && byId.get(trajectory_id)?.reward != null) redone.push(trajectory_id);
      else byId.delete(trajectory_id);
    }
  }
  return { missing: [...byId.values()], redone };
}

async function removeErrors({ db, dialect }: StoreContext, ids: readonly string[]): Promise<void> {
  const query = db
    .selectFrom('rollout')
    .select('trajectory_id')
    .where('trajectory_id', 'in', ids)
    .where('standing', '=', 'error');
  const still = (await dialect.lockRows(query).execute()).map((row) => row.trajectory_id);
  if (still.length === 0) return;
  await db.deleteFrom('rollout_step').where('trajectory_id', 'in', still).execute();
  await db.deleteFrom('rollout').where('trajectory_id', 'in', still).execute();
}

/** @returns how many rows were new, and the ids of those that are stored as they are here. */
async function insertRollouts(context: StoreContext, rows: readonly NewRollout[]) {
  const { db, dialect } = context;
  let fresh = 0;
  const ours = new Set<string>();
  const bytesOf = (row: NewRollout) => row.record.byteLength + ROW_BYTES;
  for (const part of slicesOfBytes(rows, ROLLOUT_ROWS, dialect.maxStatementBytes, bytesOf)) {
    const inserted = await insertRows.ignoreDuplicates(context, part);
    fresh += inserted;
    // Another process may have stored some of them a moment ago, and even have made them itself.
    const same = inserted === part.length ? part : await storedAlike(db, part);
    for (const row of same) ours.add(row.trajectory_id);
  }
  return { fresh, ours };
}

/** Those of `rows` that are in the table, and are the same rollouts. */
async function storedAlike(db: StoreContext['db'], rows: readonly NewRollout[]): Promise<NewRollout[]> {
  const ids = rows.map((row) => row.trajectory_id);
  const stored = await db
    .selectFrom('rollout')
    .select(['trajectory_id', 'started_at', 'finished_at'])
    .where('trajectory_id', 'in', ids)
    .execute();
  const byId = new Map(stored.map((row) => [row.trajectory_id, row]));
  return rows.filter((row) => {
    const there = byId.get(row.trajectory_id);
    return there?.started_at === row.started_at && there.finished_at === row.finished_at;
  });
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
    record: packTrajectory(trajectory, options.json?.get(trajectory)),
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
