import { type StoreContext, slices } from './context.ts';

export interface TaskParent {
  task_id: string;
  domain: string;
  instruction: string;
}

/** Runs that something refers to and that nobody may have registered. */
export async function ensureRuns({ db, dialect, now }: StoreContext, runIds: readonly string[]): Promise<void> {
  for (const ids of slices([...new Set(runIds)], 200)) {
    const there = await db.selectFrom('run').select('run_id').where('run_id', 'in', ids).execute();
    const known = new Set(there.map((row) => row.run_id));
    const rows = ids.filter((id) => !known.has(id)).map((run_id) => ({ run_id, created_at: now() }));
    // Only what is missing: on MySQL an insert locks the row that is there, and with it all who refer to it.
    if (rows.length > 0) await dialect.ignoreDuplicates(db.insertInto('run').values(rows), 'run_id').execute();
  }
}

/** Tasks that something refers to and that nobody may have registered. */
export async function ensureTasks({ db, dialect, now }: StoreContext, tasks: readonly TaskParent[]): Promise<void> {
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  for (const ids of slices([...byId.keys()], 200)) {
    const there = await db.selectFrom('task').select('task_id').where('task_id', 'in', ids).execute();
    const known = new Set(there.map((row) => row.task_id));
    const rows = ids
      .filter((id) => !known.has(id))
      .map((id) => byId.get(id)!)
      .map(({ task_id, domain, instruction }) => ({ task_id, domain, instruction, created_at: now() }));
    if (rows.length > 0) await dialect.ignoreDuplicates(db.insertInto('task').values(rows), 'task_id').execute();
  }
}
