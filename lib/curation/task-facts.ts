import type { Store, TaskStatistics } from '../store/index.ts';

/** Decisions against groups that are listed. */
const REJECTIONS = 5;
/** Groups under way that are listed. */
const OPEN = 5;

export interface Rejection {
  group_id: string;
  reason: string;
  /** Milliseconds since 1970. */
  at: number;
}

export interface OpenMembers {
  group_id: string;
  size: number;
  /** Members that have been stored, scored or failed. */
  stored: number;
  /** Members that somebody is working on. */
  working: number;
}

/** What a store knows of one task. */
export interface TaskFacts extends TaskStatistics {
  task_id: string;
  domain: string;
  /** Rewards of the newest scored rollouts, newest first. */
  rewards: number[];
  /** Rollouts by outcome, ever; demonstrations and imports aside. */
  outcomes: Record<string, number>;
  /** Groups by state (`planned`, `ready`, `rejected`, `acknowledged`). */
  groups: Record<string, number>;
  /** Rejected groups by reason. */
  rejected: Record<string, number>;
  /** Newest first. */
  rejections: Rejection[];
  open: OpenMembers[];
  learned: { groups: number; newest_version: number | null };
  pool: { successes: number; without_logprobs: number };
}

/** What to look at: `window` newest scored rollouts, of one run or of all. */
export interface FactsScope {
  window: number;
  run_id?: string | undefined;
}

/** Everything that `dart-curate explain` goes by. Null for a task that the store has never heard of. */
export async function readTaskFacts(store: Store, taskId: string, scope: FactsScope): Promise<TaskFacts | null> {
  const task = await store.query((db) =>
    db.selectFrom('task').select('domain').where('task_id', '=', taskId).executeTakeFirst(),
  );
  if (!task) return null;
  const statistics = await store.taskStatistics([taskId], scope.window, { run_id: scope.run_id });
  const outcomes = await failuresByOutcome(store, [taskId], scope.run_id);
  return {
    task_id: taskId,
    domain: task.domain,
    ...statistics.get(taskId)!,
    rewards: await newestRewards(store, taskId, scope),
    outcomes: outcomes.get(taskId) ?? {},
    ...(await groupFacts(store, taskId, scope.run_id)),
    pool: await poolFacts(store, taskId),
  };
}

/** Rollouts of each task by outcome, errors and scored ones; demonstrations and imports aside. */
export async function failuresByOutcome(
  store: Store,
  taskIds: readonly string[],
  runId?: string,
): Promise<Map<string, Record<string, number>>> {
  const counts = new Map<string, Record<string, number>>();
  for (let start = 0; start < taskIds.length; start += 200) {
    const rows = await store.query((db) => {
      const query = db
        .selectFrom('rollout')
        .select(['task_id', 'outcome', (eb) => eb.fn.countAll().as('rollouts')])
        .where('task_id', 'in', taskIds.slice(start, start + 200))
        .where('standing', '!=', 'experience')
        .groupBy(['task_id', 'outcome'])
        .orderBy('task_id')
        .orderBy('outcome');
      return (runId === undefined ? query : query.where('run_id', '=', runId)).execute();
    });
    for (const row of rows) {
      counts.set(row.task_id, { ...counts.get(row.task_id), [row.outcome]: Number(row.rollouts) });
    }
  }
  return counts;
}

async function newestRewards(store: Store, taskId: string, { window, run_id }: FactsScope): Promise<number[]> {
  const rows = await store.query((db) => {
    const query = db
      .selectFrom('rollout')
      .select('reward')
      .where('task_id', '=', taskId)
      .where('standing', '=', 'scored')
      .orderBy('rollout_seq', 'desc')
      .limit(window);
    return (run_id === undefined ? query : query.where('run_id', '=', run_id)).execute();
  });
  return rows.map((row) => Number(row.reward));
}

async function groupFacts(store: Store, taskId: string, runId?: string) {
  const rows = await store.query((db) => {
    const query = db
      .selectFrom('training_group')
      .select(['group_id', 'state', 'reason', 'size', 'learned_version', 'updated_at'])
      .where('task_id', '=', taskId)
      .orderBy('updated_at', 'desc')
      .orderBy('group_id');
    return (runId === undefined ? query : query.where('run_id', '=', runId)).execute();
  });
  const against = rows.filter((row) => row.reason !== null);
  const learned = rows.filter((row) => row.learned_version !== null);
  return {
    groups: countBy(rows.map((row) => row.state)),
    rejected: countBy(against.map((row) => row.reason!)),
    rejections: against
      .slice(0, REJECTIONS)
      .map((row) => ({ group_id: row.group_id, reason: row.reason!, at: Number(row.updated_at) })),
    learned: {
      groups: learned.length,
      newest_version: learned.reduce<number | null>((max, row) => Math.max(max ?? 0, row.learned_version!), null),
    },
    open: await openMembers(store, rows.filter((row) => row.state === 'planned').slice(0, OPEN)),
  };
}

async function openMembers(store: Store, groups: readonly { group_id: string; size: number }[]) {
  const stored = await store.storedMembers(groups.map((group) => group.group_id));
  const open: OpenMembers[] = [];
  for (const { group_id, size } of groups) {
    const working = (await store.liveWork(group_id)).length;
    open.push({ group_id, size, stored: stored.get(group_id) ?? 0, working });
  }
  return open;
}

async function poolFacts(store: Store, taskId: string) {
  const row = await store.query((db) =>
    db
      .selectFrom('experience')
      .select([(eb) => eb.fn.countAll().as('successes'), (eb) => eb.fn.sum('scored').as('scored')])
      .where('task_id', '=', taskId)
      .executeTakeFirstOrThrow(),
  );
  const successes = Number(row.successes);
  return { successes, without_logprobs: successes - Number(row.scored ?? 0) };
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
