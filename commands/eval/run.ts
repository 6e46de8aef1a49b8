import { createHash } from 'node:crypto';
import { readInputs, resolvePath, skipping } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { stopCode } from '../../lib/cli/stop.ts';
import { openEnvironments } from '../../lib/environment/open.ts';
import { DartError, messageOf } from '../../lib/errors.ts';
import { loadTasks } from '../../lib/osworld/load.ts';
import { normaliseTask } from '../../lib/osworld/task.ts';
import { Evaluation } from '../../lib/report/evaluation.ts';
import { percent } from '../../lib/report/tables.ts';
import { runSession, type SessionOptions } from '../../lib/rollout/session.ts';
import { stoppingOf } from '../../lib/rollout/stopping.ts';
import { BlobStore } from '../../lib/stream/blobs.ts';
import type { Task } from '../../lib/stream/records.ts';
import { tellOfCleanUp } from '../clean_up.ts';
import { newRunId } from '../run_id.ts';
import { serverSettings } from '../server_settings.ts';
import { conclude } from './verdict.ts';

/** `dart-eval`: every task, `--repeats` times, on desktops whose seeds training never uses. */
export async function run(context: CommandContext): Promise<number> {
  const { options, io } = context;
  const skipped = { count: 0 };
  const tasks = await tasksOf(context, skipped);
  const total = tasks.length * (options.repeats as number);
  if (options['dry-run']) {
    logOf(context).info(
      `would run ${total} rollouts of ${tasks.length} tasks with ${options.policy} on ${options.env}`,
    );
    return 0;
  }
  refuseOneFile(context);
  const evaluation = new Evaluation();
  const trajectories = options.trajectories === undefined ? null : await openOutput(context, 'trajectories');
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
      ...settings(context, tasks),
      environments,
      stopping,
      write: async (trajectory) => {
        evaluation.add(trajectory);
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
    return await conclude(context, evaluation, {
      policy,
      model_version: version,
      temperature: options.temperature,
      repeats: options.repeats,
      max_steps: options['max-steps'],
      skipped: skipped.count,
    });
  } finally {
    progress.stop();
    stopping.dispose();
    await environments.close();
    byHand();
  }
}

/** Two outputs in one file would leave only the later one. */
function refuseOneFile({ options, io }: CommandContext): void {
  const [results, trajectories] = [options.output, options.trajectories];
  if (typeof trajectories !== 'string' || typeof results !== 'string') return;
  if (resolvePath(io, results) !== resolvePath(io, trajectories)) return;
  throw new DartError('the results go to this file, too', {
    where: `--trajectories ${trajectories}`,
    hint: 'another name',
  });
}

function standing(evaluation: Evaluation, total: number): string {
  const { rollouts, score } = evaluation.total();
  return `${rollouts} of ${total} rollouts${score ? `, success so far ${percent(score.value)}` : ''}`;
}

/** An evaluation is a session of rollouts without curation: fixed number, fixed length, one version throughout. */
function settings(
  context: CommandContext,
  tasks: Task[],
): Omit<SessionOptions, 'environments' | 'stopping' | 'write' | 'notes'> {
  const { options, io } = context;
  const maxSteps = options['max-steps'] as number;
  if (typeof options.policy !== 'string') {
    throw new DartError('no policy', { where: '--policy', hint: '--policy onnx:fixtures/policies/base.onnx' });
  }
  return {
    runId: 'evaluation',
    tasks,
    policy: options.policy,
    workers: options.workers as number,
    servers: { ...serverSettings(context), update: 'off' },
    rollouts: options.repeats as number,
    follow: false,
    mode: 'async',
    batchGroups: 1,
    versionWaitMs: 0,
    sync: 'one',
    syncIntervalMs: 1000,
    seed: (options.seed as number | undefined) ?? 0,
    evaluation: true,
    dynamicRollouts: false,
    dynamicLength: false,
    limits: { minSteps: maxSteps, maxSteps, slack: 0 },
    successWindow: 1,
    sampling: { temperature: options.temperature as number },
    onParseError: 'observe',
    failAtLimit: false,
    blobs: typeof options.blobs === 'string' ? new BlobStore(resolvePath(io, options.blobs)) : NOWHERE,
    store: null,
  };
}

/** Screenshots of an evaluation are named by their content and kept only where `--blobs` says. */
const NOWHERE = { putSync: (png: Uint8Array) => createHash('sha256').update(png).digest('hex') };

async function tasksOf(context: CommandContext, skipped: { count: number }): Promise<Task[]> {
  const { tasks: source } = context.options;
  if (typeof source !== 'string') {
    throw new DartError('no tasks', { where: '--tasks', hint: '--tasks fixtures/tasks/embedded' });
  }
  const tasks: Task[] = [];
  if (source !== '-') {
    const onBad = skipping(context, skipped);
    for await (const task of loadTasks(resolvePath(context.io, source), {}, { onBad })) tasks.push(task);
    return tasks;
  }
  for await (const { record, where } of readInputs(context, ['-'], skipped)) {
    if (record.type !== 'task') continue;
    const task = normaliseTask(record, where);
    if (tasks.some(({ task_id }) => task_id === task.task_id)) {
      throw new DartError(`task ${task.task_id} came before`, {
        where,
        hint: 'each task once; --repeats N runs it N times',
      });
    }
    tasks.push(task);
  }
  if (tasks.length === 0)
    throw new DartError('no task record', { where: 'stdin', hint: 'dart-env tasks --from DIR | …' });
  return tasks;
}
