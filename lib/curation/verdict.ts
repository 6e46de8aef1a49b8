import { adviceFor } from './reasons.ts';
import type { TaskFacts } from './task-facts.ts';

/** Whether the next groups of a task can be learned from, why, and what it would take. */
export interface Verdict {
  trains: boolean;
  because: string;
  /** What would have to happen, or could be done; empty where all is well. */
  needs: string[];
  /** Chance that the next group has both successes and failures, where rewards are 0 and 1; null where unknown. */
  chance: number | null;
}

/** @param n rollouts of the task's next group. */
export function verdictOn(facts: TaskFacts, n: number): Verdict {
  if (facts.success_rate === null) return withoutScores(facts);
  const rate = facts.success_rate;
  const constant = new Set(facts.rewards).size === 1;
  if (constant && rate === 0) return alwaysFails(facts);
  if (constant && rate === 1) return alwaysSucceeds(facts, n);
  if (constant && facts.scored > 1) {
    return {
      trains: false,
      chance: 0,
      because: `all ${facts.scored} newest rollouts have reward ${rate}`,
      needs: ['rewards that differ within a group: more rollouts a group, or a finer reward'],
    };
  }
  return sometimes(facts, n);
}

function withoutScores(facts: TaskFacts): Verdict {
  const errors = Object.entries(facts.outcomes).sort(([, a], [, b]) => b - a);
  if (errors.length === 0) {
    const needs = ['rollouts: dart-rollout --task … --store …'];
    return { trains: false, chance: null, because: 'no rollout of it has ended yet', needs };
  }
  const [most] = errors[0]!;
  const because = `none of its ${facts.failures} rollouts was scored, most ended in ${most}`;
  return { trains: false, chance: null, because, needs: [adviceFor(most) ?? 'look at the error of its rollouts'] };
}

function alwaysFails(facts: TaskFacts): Verdict {
  const failed = `its ${facts.scored} newest scored rollouts all failed`;
  if (facts.pool.successes > 0) {
    const because = `${failed}, and a stored success takes the place of the oldest failure of each group`;
    return { trains: true, chance: 1, because, needs: [] };
  }
  return {
    trains: false,
    chance: 0,
    because: `${failed} and the pool has no success of it`,
    needs: [
      'one success: a lucky rollout (more steps, a higher temperature),',
      'or one from elsewhere: dart-curate pool add, dart-curate import',
    ],
  };
}

function alwaysSucceeds(facts: TaskFacts, n: number): Verdict {
  return {
    trains: false,
    chance: 0,
    because: `its ${facts.scored} newest scored rollouts all succeeded: nothing to learn`,
    needs: [`a failure among the ${n} rollouts that it still gets each turn; until then it costs little`],
  };
}

function sometimes(facts: TaskFacts, n: number): Verdict {
  const rate = facts.success_rate!;
  // Members succeed independently: a group is no use when all do, or when all fail and the pool is empty.
  const allFail = facts.pool.successes > 0 ? 0 : (1 - rate) ** n;
  const chance = Math.max(0, 1 - rate ** n - allFail);
  const because = `it succeeds in ${percent(rate)} of its ${facts.scored} newest scored rollouts: about ${percent(chance)} of groups of ${n} can be learned from`;
  return { trains: true, chance, because, needs: obstacles(facts) };
}

/** What stands in the way of groups that could be learned from. */
function obstacles(facts: TaskFacts): string[] {
  const last = facts.rejections.map((one) => one.reason);
  const needs: string[] = [];
  const same = last.length > 0 && new Set(last).size === 1 ? last[0]! : null;
  if (same && adviceFor(same))
    needs.push(`its last ${last.length} groups were left out as ${same}: ${adviceFor(same)}`);
  const ready = facts.groups.ready ?? 0;
  if (ready > 0) needs.push(`${ready} groups wait for dart-train to publish a version learned from them`);
  const waiting = facts.open.filter((group) => group.working === 0 && group.stored < group.size);
  if (waiting.length > 0)
    needs.push(`${waiting.length} groups lack members that nobody works on: dart-curate --follow closes them`);
  return needs;
}

function percent(share: number): string {
  return `${Math.round(100 * share)}%`;
}
