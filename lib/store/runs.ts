import type { Task } from '../stream/records.ts';
import { inTransaction, type StoreContext, slicesOfBytes } from './context.ts';
import { withoutPasswords } from './url.ts';

export interface NewRun {
  run_id: string;
  command?: string;
  /** The resolved options of the command. */
  config?: unknown;
}

/**
 * Registers a run; registering it again (a resumed command) changes nothing but fills in what was not known. Passwords of
 * URLs in its options are left out.
 */
export async function registerRun(context: StoreContext, run: NewRun): Promise<void> {
  const config = run.config === undefined ? null : JSON.stringify(withoutPasswords(run.config));
  await inTransaction(context, async ({ db, dialect, now }) => {
    const row = { run_id: run.run_id, command: run.command ?? null, config_json: config, created_at: now() };
    await dialect.ignoreDuplicates(db.insertInto('run').values(row), 'run_id').execute();
    if (!run.command) return;
    await db
      .updateTable('run')
      .set({ command: run.command, config_json: config })
      .where('run_id', '=', run.run_id)
      .where('command', 'is', null)
      .execute();
  });
}

/** The options that a run was registered with, as `registerRun` got them; null where it or they are not known. */
export async function runConfig({ db }: StoreContext, runId: string): Promise<Record<string, unknown> | null> {
  const row = await db.selectFrom('run').select('config_json').where('run_id', '=', runId).executeTakeFirst();
  return row?.config_json ? (JSON.parse(row.config_json) as Record<string, unknown> | null) : null;
}

/** Stores task records; a task that is there already gets the new record. */
export async function upsertTasks(context: StoreContext, tasks: readonly Task[]): Promise<void> {
  if (tasks.length === 0) return;
  const created_at = context.now();
  const rows = [...new Map(tasks.map((task) => [task.task_id, task])).values()].map((task) => ({
    task_id: task.task_id,
    domain: task.domain,
    instruction: task.instruction,
    record_json: JSON.stringify(task),
    created_at,
  }));
  await inTransaction(context, async ({ db, dialect }) => {
    const bytesOf = (row: (typeof rows)[number]) => row.record_json.length * 3;
    for (const part of slicesOfBytes(rows, 200, dialect.maxStatementBytes, bytesOf)) {
      const insert = db.insertInto('task').values(part);
      await dialect.overwriteDuplicates(insert, ['task_id'], ['domain', 'instruction', 'record_json']).execute();
    }
  });
}

export interface StoredTask {
  task_id: string;
  domain: string;
  instruction: string;
}

/** All tasks that were ever registered, by id. */
export function listTasks({ db }: StoreContext): Promise<StoredTask[]> {
  return db.selectFrom('task').select(['task_id', 'domain', 'instruction']).orderBy('task_id').execute();
}

/** Runs that have at least one rollout or version, oldest first. */
export async function listRuns({ db }: StoreContext): Promise<string[]> {
  const rows = await db.selectFrom('run').select('run_id').orderBy('created_at').orderBy('run_id').execute();
  return rows.map((row) => row.run_id);
}
