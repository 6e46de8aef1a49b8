import type { CreateTableBuilder, Kysely } from 'kysely';
import type { StoreDialect } from '../dialect.ts';
import type { StoreTables } from '../schema.ts';
import { makeIndices } from './indices.ts';

type Db = Kysely<StoreTables>;
type Columns = StoreDialect['columns'];

/** The eleven tables, the leases and the cursors. */
export async function createTables(db: Db, dialect: StoreDialect): Promise<void> {
  const c = dialect.columns;
  await createRunTables(db, c);
  await createWorkerTables(db, c);
  await createRolloutTables(db, c);
  await createGroupTables(db, c);
  await createBookkeeping(db, c);
  await createIndices(db, dialect);
}

async function createRunTables(db: Db, c: Columns): Promise<void> {
  await db.schema
    .createTable('run')
    .ifNotExists()
    .addColumn('run_id', c.key, (col) => col.primaryKey().notNull())
    .addColumn('command', c.text)
    .addColumn('config_json', c.json)
    .addColumn('created_at', c.time, (col) => col.notNull())
    .execute();
  await db.schema
    .createTable('task')
    .ifNotExists()
    .addColumn('task_id', c.key, (col) => col.primaryKey().notNull())
    .addColumn('domain', c.key, (col) => col.notNull())
    .addColumn('instruction', c.text, (col) => col.notNull())
    .addColumn('record_json', c.json)
    .addColumn('created_at', c.time, (col) => col.notNull())
    .execute();
  await db.schema
    .createTable('model_version')
    .ifNotExists()
    .addColumn('run_id', c.key, (col) => col.notNull())
    .addColumn('version', c.integer, (col) => col.notNull())
    .addColumn('path', c.text, (col) => col.notNull())
    .addColumn('metrics_json', c.json)
    .addColumn('created_at', c.time, (col) => col.notNull())
    .addPrimaryKeyConstraint('model_version_key', ['run_id', 'version'])
    .$call((table) => refer(table, 'model_version', 'run_id', 'run'))
    .execute();
}

async function createWorkerTables(db: Db, c: Columns): Promise<void> {
  await db.schema
    .createTable('worker')
    .ifNotExists()
    .addColumn('worker_id', c.key, (col) => col.primaryKey().notNull())
    .addColumn('run_id', c.key, (col) => col.notNull())
    .addColumn('policy', c.text, (col) => col.notNull())
    .addColumn('endpoint', c.text)
    .addColumn('state', c.word, (col) => col.notNull())
    .addColumn('version', c.integer)
    .addColumn('updated_at', c.time, (col) => col.notNull())
    .$call((table) => refer(table, 'worker', 'run_id', 'run'))
    .execute();
  await db.schema
    .createTable('worker_sync')
    .ifNotExists()
    .addColumn('sync_id', c.integer, (col) => col.primaryKey().autoIncrement().notNull())
    .addColumn('worker_id', c.key, (col) => col.notNull())
    .addColumn('from_version', c.integer)
    .addColumn('to_version', c.integer, (col) => col.notNull())
    .addColumn('drain_ms', c.real)
    .addColumn('load_ms', c.real)
    .addColumn('error', c.text)
    .addColumn('started_at', c.time, (col) => col.notNull())
    .addColumn('finished_at', c.time)
    .$call((table) => refer(table, 'worker_sync', 'worker_id', 'worker'))
    .execute();
  await db.schema
    .createTable('environment')
    .ifNotExists()
    .addColumn('run_id', c.key, (col) => col.notNull())
    .addColumn('env_id', c.key, (col) => col.notNull())
    .addColumn('driver', c.text, (col) => col.notNull())
    .addColumn('state', c.word, (col) => col.notNull())
    .addColumn('server_url', c.text)
    .addColumn('screen_width', c.integer, (col) => col.notNull())
    .addColumn('screen_height', c.integer, (col) => col.notNull())
    .addColumn('boot_ms', c.real, (col) => col.notNull())
    .addColumn('failures', c.integer, (col) => col.notNull())
    .addColumn('updated_at', c.time, (col) => col.notNull())
    .addPrimaryKeyConstraint('environment_key', ['run_id', 'env_id'])
    .$call((table) => refer(table, 'environment', 'run_id', 'run'))
    .execute();
}

async function createRolloutTables(db: Db, c: Columns): Promise<void> {
  await db.schema
    .createTable('rollout')
    .ifNotExists()
    .addColumn('rollout_seq', c.integer, (col) => col.primaryKey().autoIncrement().notNull())
    .addColumn('trajectory_id', c.path, (col) => col.notNull().unique())
    .addColumn('run_id', c.key, (col) => col.notNull())
    .addColumn('task_id', c.key, (col) => col.notNull())
    .addColumn('group_id', c.path, (col) => col.notNull())
    .addColumn('group_size', c.integer, (col) => col.notNull())
    .addColumn('rollout_index', c.integer, (col) => col.notNull())
    .addColumn('env_id', c.key, (col) => col.notNull())
    .addColumn('policy', c.text, (col) => col.notNull())
    .addColumn('min_version', c.integer)
    .addColumn('max_version', c.integer)
    .addColumn('temperature', c.real, (col) => col.notNull())
    .addColumn('standing', c.word, (col) => col.notNull())
    .addColumn('outcome', c.word, (col) => col.notNull())
    .addColumn('reward', c.real)
    .addColumn('error', c.text)
    .addColumn('steps', c.integer, (col) => col.notNull())
    .addColumn('started_at', c.time, (col) => col.notNull())
    .addColumn('finished_at', c.time, (col) => col.notNull())
    .addColumn('record', c.blob, (col) => col.notNull())
    .$call((table) => refer(table, 'rollout', 'run_id', 'run'))
    .$call((table) => refer(table, 'rollout', 'task_id', 'task'))
    .execute();
  await db.schema
    .createTable('rollout_step')
    .ifNotExists()
    .addColumn('trajectory_id', c.path, (col) => col.notNull())
    .addColumn('step_index', c.integer, (col) => col.notNull())
    .addColumn('model_version', c.integer, (col) => col.notNull())
    .addColumn('tokens', c.integer, (col) => col.notNull())
    .addColumn('entropy', c.real)
    .addColumn('actions', c.text, (col) => col.notNull())
    .addColumn('parse_error', c.text)
    .addColumn('screenshot', c.key, (col) => col.notNull())
    .addColumn('policy_ms', c.real, (col) => col.notNull())
    .addColumn('env_ms', c.real, (col) => col.notNull())
    .addPrimaryKeyConstraint('rollout_step_key', ['trajectory_id', 'step_index'])
    .$call((table) => refer(table, 'rollout_step', 'trajectory_id', 'rollout'))
    .execute();
}

async function createGroupTables(db: Db, c: Columns): Promise<void> {
  await db.schema
    .createTable('training_group')
    .ifNotExists()
    .addColumn('group_id', c.path, (col) => col.primaryKey().notNull())
    .addColumn('run_id', c.key, (col) => col.notNull())
    .addColumn('task_id', c.key, (col) => col.notNull())
    .addColumn('size', c.integer, (col) => col.notNull())
    .addColumn('state', c.word, (col) => col.notNull())
    .addColumn('reason', c.text)
    .addColumn('lease_owner', c.key)
    .addColumn('lease_until', c.time)
    .addColumn('learned_version', c.integer)
    .addColumn('created_at', c.time, (col) => col.notNull())
    .addColumn('updated_at', c.time, (col) => col.notNull())
    .$call((table) => refer(table, 'training_group', 'run_id', 'run'))
    .$call((table) => refer(table, 'training_group', 'task_id', 'task'))
    .execute();
  await db.schema
    .createTable('group_member')
    .ifNotExists()
    .addColumn('group_id', c.path, (col) => col.notNull())
    .addColumn('trajectory_id', c.path, (col) => col.notNull())
    .addColumn('position', c.integer, (col) => col.notNull())
    .addColumn('reward', c.real, (col) => col.notNull())
    .addColumn('advantage', c.real, (col) => col.notNull())
    .addColumn('injected', c.integer, (col) => col.notNull())
    .addPrimaryKeyConstraint('group_member_key', ['group_id', 'trajectory_id'])
    .$call((table) => refer(table, 'group_member', 'group_id', 'training_group'))
    .$call((table) => refer(table, 'group_member', 'trajectory_id', 'rollout'))
    .execute();
  await db.schema
    .createTable('experience')
    .ifNotExists()
    .addColumn('experience_seq', c.integer, (col) => col.primaryKey().autoIncrement().notNull())
    .addColumn('task_id', c.key, (col) => col.notNull())
    .addColumn('trajectory_id', c.path, (col) => col.notNull())
    .addColumn('fingerprint', c.key, (col) => col.notNull())
    .addColumn('scored', c.integer, (col) => col.notNull())
    .addColumn('added_at', c.time, (col) => col.notNull())
    .addUniqueConstraint('experience_once', ['task_id', 'fingerprint'])
    .$call((table) => refer(table, 'experience', 'task_id', 'task'))
    .$call((table) => refer(table, 'experience', 'trajectory_id', 'rollout'))
    .execute();
}

async function createBookkeeping(db: Db, c: Columns): Promise<void> {
  await db.schema
    .createTable('cursor')
    .ifNotExists()
    .addColumn('name', c.key, (col) => col.primaryKey().notNull())
    .addColumn('value_json', c.json, (col) => col.notNull())
    .addColumn('updated_at', c.time, (col) => col.notNull())
    .execute();
  await db.schema
    .createTable('work_lease')
    .ifNotExists()
    .addColumn('group_id', c.path, (col) => col.notNull())
    .addColumn('rollout_index', c.integer, (col) => col.notNull())
    .addColumn('owner', c.key, (col) => col.notNull())
    .addColumn('lease_until', c.time, (col) => col.notNull())
    .addPrimaryKeyConstraint('work_lease_key', ['group_id', 'rollout_index'])
    .execute();
}

async function createIndices(db: Db, dialect: StoreDialect): Promise<void> {
  await makeIndices(db, dialect, [
    // Statistics: the newest n of a task, its longest success, its errors; with and without a run.
    ['rollout_recent', 'rollout', ['task_id', 'standing', 'rollout_seq', 'reward']],
    ['rollout_longest', 'rollout', ['task_id', 'standing', 'outcome', 'steps']],
    ['rollout_run_recent', 'rollout', ['run_id', 'task_id', 'standing', 'rollout_seq', 'reward']],
    ['rollout_run_longest', 'rollout', ['run_id', 'task_id', 'standing', 'outcome', 'steps']],
    ['rollout_group', 'rollout', ['group_id', 'rollout_index']],
    ['group_state', 'training_group', ['state', 'run_id', 'lease_until']],
    ['group_task', 'training_group', ['task_id']],
    ['member_trajectory', 'group_member', ['trajectory_id']],
    ['experience_newest', 'experience', ['task_id', 'experience_seq']],
    ['experience_trajectory', 'experience', ['trajectory_id']],
    ['worker_run', 'worker', ['run_id']],
    ['worker_sync_worker', 'worker_sync', ['worker_id']],
    ['work_lease_owner', 'work_lease', ['owner']],
  ]);
}

const PRIMARY_KEYS = {
  run: 'run_id',
  task: 'task_id',
  worker: 'worker_id',
  rollout: 'trajectory_id',
  training_group: 'group_id',
} as const;

function refer<T extends string, C extends string>(
  table: CreateTableBuilder<T, C>,
  from: string,
  column: C,
  to: keyof typeof PRIMARY_KEYS,
): CreateTableBuilder<T, C> {
  return table.addForeignKeyConstraint(`${from}_${to}`, [column], to, [PRIMARY_KEYS[to]]);
}
