import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { stopCode } from '../../lib/cli/stop.ts';
import { openEnvironments } from '../../lib/environment/open.ts';
import { DartError, messageOf } from '../../lib/errors.ts';
import type { Bridge } from '../../lib/osworld/bridge/kinds.ts';
import { checkTask } from '../../lib/osworld/check.ts';
import { Evaluation } from '../../lib/report/evaluation.ts';
import { PageChoice } from '../../lib/report/evaluation_page.ts';
import { percent } from '../../lib/report/tables.ts';
import { runSession } from '../../lib/rollout/session.ts';
import { stoppingOf } from '../../lib/rollout/stopping.ts';
import { counted } from '../../lib/stream/counted.ts';
import type { Task, Trajectory } from '../../lib/stream/records.ts';
import { tellOfCleanUp } from '../clean_up.ts';
import { newRunId } from '../run_id.ts';
import { openGivenBridge } from './bridge.ts';
import { whyNot } from './check.ts';
import { Journal, stamped, type Terms } from './journal.ts';
import { openScreenshots, type Screenshots } from './screenshots.ts';
import { sessionSettings, termsOf } from './settings.ts';
import { type Skipped, tasksOf } from './tasks.ts';
import { conclude, type Ending, type Measured, prepareEnding } from './verdict.ts';

/** `dart-eval`: every task, `--repeats` times, on desktops whose seeds training never uses. */
export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const skipped = { count: 0, tasks: [] };
  const { tasks, evaluation } = chooseTasks(context, await givenTasks(context, skipped), skipped);
  const total = tasks.length * (options.repeats as number);
  if (options['dry-run']) {
    logOf(context).info(
      `would run ${counted(total, 'rollout')} of ${counted(tasks.length, 'task')} with ${options.policy} on ${options.env}`,
    );
    return 0;
  }
  refuseOneFile(context);
  const ending = await prepareEnding(context);
  // Told here what is wrong with the options, before the policy is looked at.
  sessionSettings(context, tasks);
  const terms = await termsOf(context);
  const { resume } = options;
  const journal = resume === undefined ? null : await Journal.open(resolvePath(context.io, String(resume)), terms);
  const screenshots = openScreenshots(context, ending.reports);
  let bridge: Bridge | undefined;
  try {
    bridge = await openGivenBridge(context);
    const work: Work = {
      tasks,
      total,
      evaluation,
      terms,
      journal,
      ending,
      screenshots,
      bridge,
      skipped: skipped.count,
    };
    return await measure(context, work);
  } finally {
    await bridge?.close();
    await journal?.close();
    screenshots.close();
  }
}

interface Work {
  tasks: Task[];
  total: number;
  evaluation: Evaluation;
  terms: Terms;
  journal: Journal | null;
  ending: Ending;
  screenshots: Screenshots;
  bridge: Bridge | undefined;
  skipped: number;
}

/** Tasks that cannot be scored here are not run: they are in the results, without a score and with the reason. */
function chooseTasks(
  context: CommandContext,
  given: readonly Task[],
  skipped: Skipped,
): { tasks: Task[]; evaluation: Evaluation } {
  const evaluation = new Evaluation();
  const ids = new Set(given.map(({ task_id }) => task_id));
  // Nor may a task that cannot be read vanish from the numbers.
  for (const task of skipped.tasks ?? []) if (!ids.has(task.task_id)) evaluation.addUnsupported(task, task.reason);
  const tasks: Task[] = [];
  for (const task of given) {
    const check = checkTask(task);
    if (check.verdict === 'native' || (check.verdict === 'bridge' && context.options['python-bridge'] !== undefined)) {
      tasks.push(task);
      continue;
    }
    evaluation.addUnsupported(task, whyNot(check));
    logOf(context).warnOften('tasks that cannot be scored here', `${task.task_id}: not run: ${whyNot(check)}`);
  }
  return { tasks, evaluation };
}

async function measure(context: CommandContext, work: Work): Promise<number> {
  const { options } = context;
  const { tasks, total, evaluation, journal, ending, screenshots } = work;
  const page = { choice: new PageChoice(), loadBlob: screenshots.load };
  const before = journal?.of(tasks, options.repeats as number) ?? [];
  for (const trajectory of before) {
    evaluation.add(trajectory);
    page.choice.add(trajectory);
  }
  if (before.length > 0) logOf(context).info(`${before.length} of ${total} rollouts were scored before`);
  const take = async (trajectory: Trajectory) => {
    await journal?.write(trajectory);
    evaluation.add(trajectory);
    page.choice.add(trajectory);
  };
  const measured = await rollOut(context, work, take, before);
  return conclude(context, {
    ...{ evaluation, ending, page },
    circumstances: {
      ...measured,
      temperature: options.temperature,
      seed: work.terms.seed,
      repeats: options.repeats,
      max_steps: options['max-steps'],
      protocol: options.protocol,
      fail_at_limit: options['fail-at-limit'] === true,
      gate: options.gate,
      resumed: before.length,
      skipped: work.skipped,
    },
  });
}

/** The rollouts themselves. @returns policy and version that were measured. */
async function rollOut(
  context: CommandContext,
  { tasks, total, evaluation, terms, screenshots, bridge }: Work,
  take: (trajectory: Trajectory) => Promise<void>,
  before: readonly Trajectory[],
): Promise<Measured['circumstances']> {
  const { io, options } = context;
  const settings = sessionSettings(context, tasks);
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  if (before.length >= total) {
    const [first] = before;
    return { policy: first?.policy.name ?? options.policy, model_version: first?.policy.versions[0] ?? null };
  }
  const trajectories = options.trajectories === undefined ? null : await openOutput(context, 'trajectories');
  for (const trajectory of before) await trajectories?.write(trajectory);
  const progress = new Progress(context, 'evaluating');
  const runId = `evaluation-${newRunId()}`;
  const byHand = tellOfCleanUp(options.env as string, runId);
  const environments = await openEnvironments(options.env as string, {
    runId,
    tell: (line) => logOf(context).info(line),
    onFailure: ({ env_id, error, retired }) => {
      const fate = retired ? 'retired' : 'replaced';
      logOf(context).warnOften('desktop failures', `desktop ${env_id} ${fate}: ${messageOf(error)}`);
    },
  });
  const stopping = stoppingOf(io.signal, 0, (reason) => stopCode(reason) === 0);
  try {
    const { version, policy } = await runSession({
      ...settings,
      blobs: screenshots.store,
      bridge,
      // In an evaluation each group has one rollout.
      done: new Set(before.map(({ group_id }) => group_id)),
      environments,
      stopping,
      write: async (ended: Trajectory) => {
        const trajectory = stamped(ended, terms, byId.get(ended.task_id));
        await take(trajectory);
        await trajectories?.write(trajectory);
      },
      notes: {
        warn: (message, kind) => logOf(context).warnOften(kind, message),
        info: (message) => logOf(context).debug(message),
        progress: () => progress.update(() => standing(evaluation, total)),
      },
    });
    progress.stop();
    // What has ended is kept, also after Ctrl-C: `dart-eval score` takes it from there.
    await trajectories?.close();
    return { policy, model_version: version };
  } finally {
    progress.stop();
    stopping.dispose();
    await environments.close();
    byHand();
  }
}

/** Two outputs in one file would leave only the later one. */
function refuseOneFile({ options, io }: CommandContext): void {
  const named = ['trajectories', 'resume'].filter((name) => typeof options[name] === 'string');
  const taken = new Map<string, string>();
  if (typeof options.output === 'string' && options.output !== '-')
    taken.set(resolvePath(io, options.output), 'the results go to this file, too');
  for (const name of named) {
    const path = resolvePath(io, String(options[name]));
    const message = taken.get(path);
    if (message !== undefined)
      throw new DartError(message, { where: `--${name} ${options[name]}`, hint: 'another name' });
    taken.set(path, 'the trajectories go to this file, too');
  }
}

function standing(evaluation: Evaluation, total: number): string {
  const { rollouts, score } = evaluation.standing();
  return `${rollouts} of ${total} rollouts${score === null ? '' : `, success so far ${percent(score)}`}`;
}

async function givenTasks(context: CommandContext, skipped: Skipped): Promise<Task[]> {
  const { tasks: source } = context.options;
  if (typeof source === 'string') return tasksOf(context, source, skipped);
  throw new DartError('no tasks', { where: '--tasks', hint: '--tasks fixtures/tasks/embedded' });
}
