import type { Generated, Insertable, Selectable } from 'kysely';

/**
 * The tables of the store as Kysely sees them (design §4). Times are milliseconds since 1970 UTC, flags are 0 or 1,
 * `*_json` columns hold JSON text, so that one schema serves every dialect.
 */
export interface StoreTables {
  run: RunTable;
  task: TaskTable;
  model_version: ModelVersionTable;
  worker: WorkerTable;
  worker_sync: WorkerSyncTable;
  environment: EnvironmentTable;
  rollout: RolloutTable;
  rollout_step: RolloutStepTable;
  training_group: TrainingGroupTable;
  group_member: GroupMemberTable;
  experience: ExperienceTable;
  /** Bookkeeping beside the eleven tables. */
  migration: MigrationTable;
  cursor: CursorTable;
  work_lease: WorkLeaseTable;
}

export interface RunTable {
  run_id: string;
  command: string | null;
  config_json: string | null;
  created_at: number;
}

export interface TaskTable {
  task_id: string;
  domain: string;
  instruction: string;
  /** The whole `task` record; null while the task is only known from its trajectories. */
  record_json: string | null;
  created_at: number;
}

export interface ModelVersionTable {
  run_id: string;
  version: number;
  path: string;
  metrics_json: string | null;
  created_at: number;
}

export interface WorkerTable {
  worker_id: string;
  run_id: string;
  policy: string;
  endpoint: string | null;
  state: string;
  version: number | null;
  updated_at: number;
}

export interface WorkerSyncTable {
  sync_id: Generated<number>;
  worker_id: string;
  from_version: number | null;
  to_version: number;
  drain_ms: number | null;
  load_ms: number | null;
  error: string | null;
  started_at: number;
  /** Null while the worker is still being synchronised. */
  finished_at: number | null;
}

export interface EnvironmentTable {
  run_id: string;
  /** The process that holds the desktop. */
  owner: string;
  env_id: string;
  driver: string;
  state: string;
  server_url: string | null;
  screen_width: number;
  screen_height: number;
  boot_ms: number;
  failures: number;
  updated_at: number;
}

/**
 * What a stored rollout counts as: `scored` and `error` go into the success statistics, `experience` was put there to
 * be learned from (demonstrations, imports) and says nothing about the policy.
 */
export type Standing = 'scored' | 'error' | 'experience';

export interface RolloutTable {
  /** Order of arrival; "newest" means the highest. */
  rollout_seq: Generated<number>;
  trajectory_id: string;
  run_id: string;
  task_id: string;
  group_id: string;
  group_size: number;
  rollout_index: number;
  env_id: string;
  policy: string;
  /** Oldest and newest model version that acted; null for a rollout without steps. */
  min_version: number | null;
  max_version: number | null;
  temperature: number;
  standing: Standing;
  outcome: string;
  reward: number | null;
  error: string | null;
  steps: number;
  started_at: number;
  finished_at: number;
  /** The `trajectory` record: JSON, deflated. */
  record: Uint8Array;
}

export interface RolloutStepTable {
  trajectory_id: string;
  step_index: number;
  model_version: number;
  tokens: number;
  /** Mean exact token entropy in nats, where the policy reports it. */
  entropy: number | null;
  /** Types of the actions, joined by commas. */
  actions: string;
  parse_error: string | null;
  screenshot: string;
  policy_ms: number;
  env_ms: number;
}

/** `planned`: rollouts are being made; `ready`: curated, may be leased; the other two are final. */
export type GroupState = 'planned' | 'ready' | 'acknowledged' | 'rejected';

export interface TrainingGroupTable {
  group_id: string;
  run_id: string;
  task_id: string;
  size: number;
  state: GroupState;
  /** Why it was rejected, or acknowledged without being learned from. */
  reason: string | null;
  lease_owner: string | null;
  lease_until: number | null;
  /** The model version that was learned from this group. */
  learned_version: number | null;
  created_at: number;
  updated_at: number;
}

export interface GroupMemberTable {
  group_id: string;
  trajectory_id: string;
  position: number;
  reward: number;
  advantage: number;
  injected: number;
}

export interface ExperienceTable {
  experience_seq: Generated<number>;
  task_id: string;
  trajectory_id: string;
  /** Hash of what was seen and answered: the same episode under two ids is one experience. */
  fingerprint: string;
  /** 1 when every token has an id and a log-probability. */
  scored: number;
  added_at: number;
}

export interface MigrationTable {
  version: number;
  name: string;
  applied_at: number;
}

export interface CursorTable {
  name: string;
  value_json: string;
  updated_at: number;
}

export interface WorkLeaseTable {
  group_id: string;
  rollout_index: number;
  owner: string;
  lease_until: number;
}

export type RolloutRow = Selectable<RolloutTable>;
export type NewRollout = Insertable<RolloutTable>;
export type NewRolloutStep = Insertable<RolloutStepTable>;
export type GroupRow = Selectable<TrainingGroupTable>;
export type GroupMemberRow = Selectable<GroupMemberTable>;
