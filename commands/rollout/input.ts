import { leaveOut, readInputs, resolvePath, skipping } from '../../lib/cli/input.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { NoInput } from '../../lib/cli/usage.ts';
import { DartError } from '../../lib/errors.ts';
import { filterTasks, type LoadOptions, loadTasks, type TaskFilter } from '../../lib/osworld/load.ts';
import { normaliseTask } from '../../lib/osworld/task.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { ReadRecord } from '../../lib/stream/reader.ts';
import type { AnyRecord, Env, Task } from '../../lib/stream/records.ts';
import { untilQuiet } from './until_quiet.ts';

export interface RolloutInput {
  tasks: Task[];
  /** Desktops that run already; empty when the command is to start its own. */
  envs: Env[];
  /** Where more may come, or be told gone, while the command runs. */
  later: AsyncIterable<ReadRecord> | null;
  /** Records that were left out (`--on-error skip`). */
  skipped: number;
}

/** An open stream with desktops on it has all its tasks when nothing came for so long. */
const QUIET_MS = 2000;
/** Where only desktops come, the first will do: those that are ready at the same time are waited for so long. */
const TOGETHER_MS = 100;

/**
 * The tasks, from a file, a folder, or standard input (`-`), and the desktops, if they are on standard input too. Its
 * records of other types go to `pass`.
 * @throws DartError for bad lines (unless `--on-error skip`), unknown tasks, and when what was asked for does not come.
 */
export async function readInput(
  context: CommandContext,
  filter: TaskFilter,
  pass: (record: AnyRecord) => Promise<void>,
): Promise<RolloutInput> {
  const { io, options } = context;
  const path = options.tasks as string;
  const input = new StandardInput(context, path === '-', options.env === '-' || options.env === undefined);
  if (path === '-' || options.env === '-') {
    if ((io.stdin as { isTTY?: boolean }).isTTY) throw new NoInput();
    await input.read(pass);
  }
  if (options.env === '-' && input.envs.size === 0) {
    throw new DartError('no env record of a desktop that is ready came', { where: 'stdin', hint: '--env embedded:4' });
  }
  const skipped = { count: 0 };
  const onBad = skipping(context, skipped);
  const tasks = path === '-' ? await input.chosen(filter) : await fromPath(resolvePath(io, path), filter, { onBad });
  return { tasks, envs: [...input.envs.values()], later: input.later, skipped: input.skipped + skipped.count };
}

async function fromPath(path: string, filter: TaskFilter, options: LoadOptions): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of loadTasks(path, filter, options)) tasks.push(task);
  return tasks;
}

/** What standard input had to offer. */
class StandardInput {
  readonly tasks = new Map<string, Task>();
  readonly envs = new Map<string, Env>();
  later: AsyncIterable<ReadRecord> | null = null;
  readonly #context: CommandContext;
  readonly #takesTasks: boolean;
  readonly #takesEnvs: boolean;
  readonly #skipped = { count: 0 };

  constructor(context: CommandContext, takesTasks: boolean, takesEnvs: boolean) {
    this.#context = context;
    this.#takesTasks = takesTasks;
    this.#takesEnvs = takesEnvs;
  }

  get skipped(): number {
    return this.#skipped.count;
  }

  async read(pass: (record: AnyRecord) => Promise<void>): Promise<void> {
    const records = readInputs(this.#context, ['-'], this.#skipped);
    const enough = () => this.envs.size > 0 && (this.tasks.size > 0 || !this.#takesTasks);
    const quietMs = this.#takesTasks ? QUIET_MS : TOGETHER_MS;
    const rest = (later: AsyncIterable<ReadRecord>) => {
      if (this.#takesEnvs) this.later = later;
    };
    for await (const found of untilQuiet(records, enough, quietMs, rest)) {
      try {
        if (!this.#take(found)) await pass(found.record);
      } catch (error) {
        leaveOut(this.#context, this.#skipped, error);
      }
    }
  }

  async chosen(filter: TaskFilter): Promise<Task[]> {
    if (this.tasks.size > 0) return filterTasks([...this.tasks.values()], filter, 'stdin');
    const hint = '--tasks DIR, or dart-env tasks … | dart-rollout';
    throw new DartError('no task record came', { where: 'stdin', hint });
  }

  /** False for what this command does not understand. */
  #take({ record, where }: ReadRecord): boolean {
    if (record.type === 'task' && this.#takesTasks) {
      const task = normaliseTask(record, where);
      if (this.tasks.has(task.task_id)) throw new DartError(`task ${task.task_id} came before`, { where });
      this.tasks.set(task.task_id, task);
      return true;
    }
    if (record.type === 'env' && this.#takesEnvs) {
      const env = parseRecord('env', record, where);
      if (env.state === 'ready') this.envs.set(env.env_id, env);
      else this.envs.delete(env.env_id);
      return true;
    }
    // Only says that its writer is there.
    return record.type === 'event' && record.event === 'heartbeat';
  }
}
