import Sqlite from 'better-sqlite3';

/** One rollout of a training, as much as the reports need of it. */
export interface RolloutLine {
  group: string;
  task: string;
  /** Null where it ended in an error. */
  reward: number | null;
  steps: number;
  /** Newest version that acted. */
  version: number | null;
}

/**
 * The rollouts in a training's SQLite store in order of arrival, demonstrations aside. Read beside the store's own
 * interface, which hands out whole trajectories: of twenty thousand of them these five numbers are wanted.
 */
export function rolloutLines(database: string, runId: string): RolloutLine[] {
  const db = new Sqlite(database, { readonly: true, fileMustExist: true });
  try {
    return db
      .prepare(
        `SELECT group_id AS "group", task_id AS task, reward, steps, max_version AS version FROM rollout
         WHERE run_id = ? AND standing != 'experience' ORDER BY rollout_seq`,
      )
      .all(runId) as RolloutLine[];
  } finally {
    db.close();
  }
}

/** A stretch of a training. */
export interface Stretch {
  /** Rollouts up to its end. */
  rollouts: number;
  /** Mean reward of its rollouts. */
  reward: number;
  /** Mean over its groups of the standard deviation of their rewards; null where no group lies within it whole. */
  spread: number | null;
  /** Share of its whole groups whose rewards differ. */
  varied: number | null;
}

/** Cuts the first `total` scored rollouts into stretches of equal length. */
export function stretchesOf(lines: readonly RolloutLine[], total: number, count: number): Stretch[] {
  const scored = lines.filter((line): line is RolloutLine & { reward: number } => line.reward !== null).slice(0, total);
  const size = Math.max(1, Math.floor(total / count));
  const stretches: Stretch[] = [];
  for (let end = size; end <= scored.length; end += size) {
    const within = scored.slice(end - size, end);
    const groups = new Map<string, number[]>();
    for (const { group, reward } of within) groups.set(group, [...(groups.get(group) ?? []), reward]);
    const spreads = [...groups.values()].filter((rewards) => rewards.length > 1).map(deviation);
    stretches.push({
      rollouts: end,
      reward: within.reduce((sum, { reward }) => sum + reward, 0) / size,
      spread: spreads.length > 0 ? spreads.reduce((a, b) => a + b, 0) / spreads.length : null,
      varied: spreads.length > 0 ? spreads.filter((spread) => spread > 0).length / spreads.length : null,
    });
  }
  return stretches;
}

/** Standard deviation, unbiased. */
function deviation(values: readonly number[]): number {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
