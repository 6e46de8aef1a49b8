import { counted } from '../../stream/counted.ts';
import type { Step, Trajectory } from '../../stream/records.ts';
import { durationWords } from './words.ts';

/** A reply in its two parts, for people. Together they are the whole reply but for the words that mark them. */
export interface ReplyParts {
  thought: string | null;
  action: string | null;
}

/** `Thought: … Action: …`; a reply without these words is all action, or all thought where no action could be read in it. */
export function replyParts({ response: { text }, actions }: Pick<Step, 'response' | 'actions'>): ReplyParts {
  const mark = /^[ \t*]*Action\s*[:：]\**/im.exec(text) ?? /\bAction\s*[:：]\**/i.exec(text);
  if (!mark) return actions.length > 0 ? parts('', text) : parts(text, '');
  return parts(text.slice(0, mark.index), text.slice(mark.index + mark[0].length));
}

function parts(thought: string, action: string): ReplyParts {
  const trimmed = thought.replace(/^[\s*]*Thought\s*[:：]\**/i, '').trim();
  return { thought: trimmed === '' ? null : trimmed, action: action.trim() === '' ? null : action.trim() };
}

/** A name and what there is to say: the head of a trajectory, on paper and on a page. */
export type Fact = readonly [name: string, text: string];

/** What is known of a trajectory besides its instruction and its steps. */
export function trajectoryFacts(trajectory: Trajectory): Fact[] {
  const { policy, sampling, limits, steps, run_id, group_id, group_size, rollout_index } = trajectory;
  const where = trajectory.env_seed === undefined ? '' : `, seed ${trajectory.env_seed}`;
  const facts: [string, string | null][] = [
    ['task', `${trajectory.task_id} (${trajectory.domain})`],
    ['outcome', outcomeWords(trajectory)],
    ['error', trajectory.error ?? null],
    ['steps', `${steps.length} of at most ${limits.max_steps}`],
    ['tokens', tokenWords(steps)],
    ['time', timeWords(trajectory)],
    ['policy', `${policy.name}, ${versionWords(policy.versions)}, temperature ${sampling.temperature}`],
    ['rollout', `${rollout_index + 1} of ${group_size} in group ${group_id}`],
    ['run', run_id],
    ['desktop', `${trajectory.env_id}${where}`],
    ['id', trajectory.trajectory_id],
  ];
  return facts.flatMap(([name, text]) => (text === null ? [] : [[name, text] as const]));
}

/** `success, reward 1`; `env_error, no reward`. */
export function outcomeWords({ outcome, reward }: Pick<Trajectory, 'outcome' | 'reward'>): string {
  return `${outcome}, ${reward === null ? 'no reward' : `reward ${rewardWords(reward)}`}`;
}

/** At most three decimals. */
export function rewardWords(reward: number): string {
  return String(Math.round(reward * 1000) / 1000);
}

function versionWords(versions: readonly number[]): string {
  if (versions.length === 0) return 'no version';
  return versions.length === 1 ? `version ${versions[0]}` : `versions ${versions.join(', ')}`;
}

function tokenWords(steps: readonly Step[]): string | null {
  const tokens = steps.reduce((sum, step) => sum + step.response.token_ids.length, 0);
  if (tokens === 0) return null;
  const entropies = steps.flatMap((step) => step.response.entropies ?? []).filter((entropy) => entropy !== null);
  if (entropies.length === 0) return counted(tokens, 'token');
  const mean = entropies.reduce((a, b) => a + b, 0) / entropies.length;
  return `${counted(tokens, 'token')}, mean entropy ${mean.toFixed(2)} nats`;
}

function timeWords(trajectory: Trajectory): string {
  const whole = trajectoryTime(trajectory);
  const from = `${whole === null ? '' : `${whole} `}from ${trajectory.started_at}`;
  const parts = (
    [
      ['policy', 'policy_ms'],
      ['desktop', 'env_ms'],
    ] as const
  ).flatMap(([name, field]) => {
    const sum = trajectory.steps.reduce((total, step) => total + step[field], 0);
    return sum > 0 ? [`${name} ${durationWords(sum)}`] : [];
  });
  return parts.length === 0 ? from : `${from} (${parts.join(', ')})`;
}

/** How long it took; null where only the moment is known, as of one that was imported. */
export function trajectoryTime({ started_at, finished_at }: Trajectory): string | null {
  const ms = Date.parse(finished_at) - Date.parse(started_at);
  return ms > 0 ? durationWords(ms) : null;
}

/** What is known of a step besides its reply: times, version, what the policy was shown. A time of 0 was not measured. */
export function stepFacts(step: Step): Fact[] {
  const { response, prompt } = step;
  const shown = prompt.screenshots === undefined ? '' : `, ${counted(prompt.screenshots, 'screenshot')}`;
  const history = `${prompt.history} earlier ${prompt.history === 1 ? 'reply' : 'replies'}${shown}`;
  return [
    ...stepTimes(step),
    ['version', String(step.model_version)],
    ['prompt', history],
    ['ended by', response.finish_reason],
  ];
}

/** How long policy and desktop took; none that was not measured. */
export function stepTimes({ policy_ms, env_ms }: Step): Fact[] {
  const times: [string, number][] = [
    ['policy', policy_ms],
    ['desktop', env_ms],
  ];
  return times.filter(([, ms]) => ms > 0).map(([name, ms]) => [name, durationWords(ms)]);
}
