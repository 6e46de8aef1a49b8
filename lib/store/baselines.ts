import type { Store } from './store.ts';

export interface BaselineRollout {
  task_id: string;
  domain: string;
  /** Null after an error. */
  reward: number | null;
}

/** Rows that are read at a time. */
const PAGE = 2000;

/**
 * What each stored rollout of the policy came to, oldest first, a page in memory at a time. Demonstrations and imports
 * say nothing about the policy: they count only where their run is asked for by name.
 */
export async function* taskBaselines(
  store: Pick<Store, 'query'>,
  runId?: string,
): AsyncGenerator<BaselineRollout, void, void> {
  for (let last = -1; ; ) {
    const after = last;
    const rows = await store.query((db) => selectBaselines(db, after, runId).execute());
    for (const { task_id, domain, reward } of rows) {
      yield { task_id, domain, reward: reward === null ? null : Number(reward) };
    }
    if (rows.length < PAGE) return;
    last = Number(rows.at(-1)!.rollout_seq);
  }
}

function selectBaselines(db: Store['db'], after: number, runId: string | undefined) {
  const query = db
    .selectFrom('rollout')
    .innerJoin('task', 'task.task_id', 'rollout.task_id')
    .select(['rollout.rollout_seq', 'rollout.task_id', 'rollout.reward', 'task.domain'])
    .where('rollout.rollout_seq', '>', after)
    .orderBy('rollout.rollout_seq')
    .limit(PAGE);
  return runId === undefined
    ? query.where('rollout.standing', '!=', 'experience')
    : query.where('rollout.run_id', '=', runId);
}

/** The `task` records that the store has; tasks of which it knows only rollouts are absent. */
export async function* storedTaskRecords(store: Pick<Store, 'query'>): AsyncGenerator<unknown, void, void> {
  const rows = await store.query((db) =>
    db.selectFrom('task').select('record_json').where('record_json', 'is not', null).orderBy('task_id').execute(),
  );
  for (const { record_json } of rows) yield JSON.parse(record_json!);
}
