import { fstatSync } from 'node:fs';
import { openInput, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { NoInput } from '../../lib/cli/usage.ts';
import { DartError } from '../../lib/errors.ts';
import { filterTasks, loadTasks, type TaskFilter } from '../../lib/osworld/load.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { type ReadRecord, readRecords } from '../../lib/stream/reader.ts';
import type { AnyRecord, Env, Task } from '../../lib/stream/records.ts';

export interface RolloutInput {
  tasks: Task[];
  /** Desktops that run already, from env records. */
  envs: Env[];
  /** Lines that were left out. */
  skipped: number;
}

/** An open stream of env records is taken as complete when nothing came for so long. */
const QUIET_MS = 2000;

/**
 * Tasks and desktops from where the options say. Standard input is read only when it is needed; its records of other
 * types go to `pass`.
 * @throws DartError for bad lines (unless `--on-error skip`), unknown tasks, and when there is no task at all.
 */
export async function readInput(
  context: CommandContext,
  filter: TaskFilter,
  pass: (record: AnyRecord) => Promise<void>,
): Promise<RolloutInput> {
  const { io, options } = context;
  const tasksPath = options.tasks as string;
  const fromStdin = tasksPath === '-';
  const input: RolloutInput = { tasks: [], envs: [], skipped: 0 };
  const wantsEnvs = options.env === '-' || (options.env === undefined && isPipe(io.stdin));
  if (fromStdin || wantsEnvs) await readStdin(context, input, fromStdin, pass);
  if (options.env === '-' && input.envs.length === 0) {
    throw new DartError('no env record came', {
      where: 'stdin',
      hint: 'dart-env up … | dart-rollout, or --env embedded:4',
    });
  }
  if (!fromStdin) for await (const task of loadTasks(resolvePath(io, tasksPath), filter)) input.tasks.push(task);
  else if (input.tasks.length === 0) {
    throw new DartError('no task record came', {
      where: 'stdin',
      hint: '--tasks DIR, or dart-env tasks … | dart-rollout',
    });
  } else input.tasks = await filterTasks(input.tasks, filter, 'stdin');
  return input;
}

async function readStdin(
  context: CommandContext,
  input: RolloutInput,
  takesTasks: boolean,
  pass: (record: AnyRecord) => Promise<void>,
): Promise<void> {
  const { io, options } = context;
  if ((io.stdin as { isTTY?: boolean }).isTTY) throw new NoInput();
  const log = logOf(context);
  if (!takesTasks) log.info('waiting for env records on standard input (--env embedded:N needs none)');
  const { stream, name } = await openInput('-', io);
  const skip = (error: DartError) => {
    input.skipped += 1;
    log.warn(`left out: ${error.describe()}`);
  };
  const onError = options['on-error'] === 'skip' ? 'skip' : 'fail';
  const records = readRecords(stream, { name, onError, onSkip: skip });
  // Desktops stay up, and so does their stream; tasks come to an end.
  const enough = () => !takesTasks && input.envs.length > 0;
  for await (const found of untilQuiet(records, enough)) {
    try {
      if (!take(found, input, takesTasks)) await pass(found.record);
    } catch (error) {
      if (onError === 'fail' || !(error instanceof DartError)) throw error;
      skip(error);
    }
  }
}

/** Takes what this command understands; false for everything else. */
function take({ record, where }: ReadRecord, input: RolloutInput, takesTasks: boolean): boolean {
  if (record.type === 'task' && takesTasks) {
    const task = parseRecord('task', record, where);
    if (input.tasks.some((other) => other.task_id === task.task_id)) {
      throw new DartError(`task ${task.task_id} came before`, { where });
    }
    input.tasks.push(task);
    return true;
  }
  if (record.type === 'env') {
    const env = parseRecord('env', record, where);
    input.envs = [
      ...input.envs.filter((other) => other.env_id !== env.env_id),
      ...(env.state === 'ready' ? [env] : []),
    ];
    return true;
  }
  return false;
}

/** Hands records on until the stream ends, or until `enough` holds and nothing came for a while. */
async function* untilQuiet(records: AsyncGenerator<ReadRecord>, enough: () => boolean): AsyncGenerator<ReadRecord> {
  for (;;) {
    const next = records.next();
    let timer: NodeJS.Timeout | undefined;
    const quiet = new Promise<null>((resolve) => {
      if (enough()) timer = setTimeout(() => resolve(null), QUIET_MS);
    });
    const result = await Promise.race([next, quiet]);
    clearTimeout(timer);
    // The stream stays open, unread: what stands on it now is not for this command.
    if (result === null) return void next.catch(() => {});
    if (result.done) return;
    yield result.value;
  }
}

function isPipe(stream: unknown): boolean {
  const { fd } = stream as { fd?: number };
  return typeof fd === 'number' && fstatSync(fd).isFIFO();
}
