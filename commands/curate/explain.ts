import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { editDistance } from '../../lib/cli/usage.ts';
import { listCounts } from '../../lib/curation/tally.ts';
import { readTaskFacts, type TaskFacts } from '../../lib/curation/task-facts.ts';
import { type Verdict, verdictOn } from '../../lib/curation/verdict.ts';
import { DartError, EXIT } from '../../lib/errors.ts';
import type { Store } from '../../lib/store/index.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { type Dynamics, dynamicsOf } from './dynamics.ts';
import { storeToRead } from './store.ts';

/** Ids that are suggested in place of an unknown one. */
const SUGGESTIONS = 3;

/** `dart-curate explain`: why a task does or does not train. */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const taskId = String(options.task);
  const store = await storeToRead(context);
  try {
    const scope = { window: Number(options['success-window']), run_id: options['run-id'] as string | undefined };
    const facts = await readTaskFacts(store, taskId, scope);
    if (!facts) throw await unknownTask(store, taskId);
    const dynamics = dynamicsOf(facts, options);
    const verdict = verdictOn(facts, dynamics.rollouts_next);
    const output = await openOutput(context);
    await output.write(recordOf(facts, dynamics, verdict));
    await output.write({
      type: 'summary',
      v: SCHEMA_VERSION,
      command: 'dart-curate explain',
      task_id: taskId,
      trains: verdict.trains,
    });
    await output.close();
    if (logOf(context).shows('info')) context.io.stderr.write(screenOf(facts, dynamics, verdict));
    return verdict.trains ? EXIT.ok : EXIT.negative;
  } finally {
    await store.close();
  }
}

function recordOf(facts: TaskFacts, dynamics: Dynamics, verdict: Verdict) {
  const rejections = facts.rejections.map(({ at, ...rest }) => ({ ...rest, at: new Date(at).toISOString() }));
  return { type: 'event', v: SCHEMA_VERSION, event: 'explanation', ...facts, rejections, ...dynamics, ...verdict };
}

async function unknownTask(store: Store, taskId: string): Promise<DartError> {
  const ids = (await store.listTasks()).map((task) => task.task_id);
  if (ids.length === 0) return new DartError('the store knows no task yet', { where: '--task', hint: 'dart-rollout' });
  const hint = nearestIds(taskId, ids).join(', ');
  return new DartError(`the store has no task ${taskId}`, { where: '--task', hint });
}

/** The most similar ids; those that contain the word come first. */
export function nearestIds(word: string, ids: readonly string[]): string[] {
  const isPart = (id: string) => id.includes(word) || word.includes(id);
  const distance = (id: string) => (isPart(id) ? 0 : editDistance(word, id));
  return [...ids]
    .map((id) => ({ id, far: distance(id) }))
    .sort((a, b) => a.far - b.far || (a.id < b.id ? -1 : 1))
    .slice(0, SUGGESTIONS)
    .map(({ id }) => id);
}

/** One screen for people. */
export function screenOf(facts: TaskFacts, dynamics: Dynamics, verdict: Verdict): string {
  const rate = facts.success_rate === null ? 'none scored' : facts.success_rate.toFixed(2);
  const longest = facts.longest_success === null ? 'no success yet' : `longest success ${facts.longest_success}`;
  const rows: [string, string][] = [
    ['success', `${rate} over the newest ${facts.scored}${facts.scored > 0 ? `: ${facts.rewards.join(' ')}` : ''}`],
    ['rollouts', listCounts(facts.outcomes) || 'none'],
    ['next group', `${dynamics.rollouts_next} rollouts of at most ${dynamics.step_cap} steps (${longest})`],
    ['groups', listCounts(facts.groups) || 'none'],
    ...facts.open.map(({ group_id, size, stored, working }): [string, string] => [
      '',
      `${group_id}: ${stored} of ${size} members there, ${working} under way`,
    ]),
    ['left out', listCounts(facts.rejected) || 'none'],
    ...facts.rejections.map(({ group_id, reason, at }): [string, string] => [
      '',
      `${new Date(at).toISOString()} ${reason} (${group_id})`,
    ]),
    ['learned', learned(facts)],
    ['pool', `${facts.pool.successes} successes, ${facts.pool.without_logprobs} of them without log-probabilities`],
  ];
  const verdictLines = [`${verdict.trains ? 'trains' : 'does not train'}: ${verdict.because}`, ...verdict.needs];
  return [
    facts.task_id,
    ...rows.map(([name, text]) => `  ${name.padEnd(11)}${text}`),
    ...verdictLines.map((line, index) =>
      index === 0 ? `  ${line}` : `    ${verdict.trains ? 'note' : 'needs'}: ${line}`,
    ),
    '',
  ].join('\n');
}

function learned({ learned: { groups, newest_version } }: TaskFacts): string {
  return groups === 0 ? 'nothing yet' : `${groups} groups, the last into version ${newest_version}`;
}
