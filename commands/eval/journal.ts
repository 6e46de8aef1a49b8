import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DartError, EXIT } from '../../lib/errors.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { makeFolder } from '../../lib/stream/files.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Task, Trajectory } from '../../lib/stream/records.ts';
import { flock } from '../../native/index.ts';
import { taskIdentity } from './identity.ts';

/** What must be the same for rollouts of two runs to count as one evaluation. */
export interface Terms {
  maxSteps: number;
  temperature: number;
  seed: number;
  /** `verified`, `strict` or `hard`. */
  protocol: string;
  failAtLimit: boolean;
  /** See policyIdentity. */
  policy: string;
}

/** A rollout with what it was made under, by which a later `--resume` knows whether it may count it. */
export function stamped(trajectory: Trajectory, terms: Terms, task: Task | undefined): Trajectory {
  return {
    ...trajectory,
    protocol: terms.protocol,
    fail_at_limit: terms.failAtLimit,
    policy: { ...trajectory.policy, identity: terms.policy },
    ...(task === undefined ? {} : { task_sha256: taskIdentity(task) }),
  };
}

const OPTIONS: Readonly<Record<keyof Terms, string>> = {
  policy: '--policy',
  maxSteps: '--max-steps',
  temperature: '--temperature',
  seed: '--seed',
  protocol: '--protocol',
  failAtLimit: '--fail-at-limit',
};

/**
 * The file of `--resume`: each rollout is appended to it as it ends, so that a run that is killed goes on where it was. What
 * was scored is not done again; what ended in an error is.
 */
export class Journal {
  readonly path: string;
  /** Rollouts that were scored before. */
  readonly before: Trajectory[] = [];
  readonly #file: FileHandle;
  readonly #terms: Terms;
  #policy: string | null = null;

  private constructor(path: string, file: FileHandle, terms: Terms) {
    this.path = path;
    this.#file = file;
    this.#terms = terms;
  }

  /**
   * Opens the file, or makes it. A last line that was cut off by a kill is taken away.
   * @throws DartError for a file that holds something else, or rollouts on other terms; with exit code 75 where another
   *   run writes to it.
   */
  static async open(path: string, terms: Terms): Promise<Journal> {
    let file: FileHandle | undefined;
    try {
      await makeFolder(dirname(path));
      file = await open(path, 'a+');
      if (!flock(file.fd)) throw inUse(path);
      const journal = new Journal(path, file, terms);
      await journal.#read();
      return journal;
    } catch (error) {
      await file?.close();
      throw error instanceof DartError ? error : fileError(error, 'write', path);
    }
  }

  /**
   * The rollouts that belong to an evaluation of these tasks with so many repeats.
   * @throws DartError for a task that is not what it was when its rollouts were made.
   */
  of(tasks: readonly Task[], repeats: number): Trajectory[] {
    const hashes = new Map(tasks.map((task) => [task.task_id, taskIdentity(task)]));
    // A group's number is its last part: of each task the repeats are numbered from 0.
    const number = ({ group_id }: Trajectory) => Number(group_id.slice(group_id.lastIndexOf('/') + 1));
    const wanted = this.before.filter(({ task_id }) => hashes.has(task_id));
    for (const { task_id, task_sha256: before } of wanted) {
      if (typeof before !== 'string' || before === hashes.get(task_id)) continue;
      throw new DartError(`task ${task_id} has been edited since its rollouts were made`, {
        where: this.path,
        hint: 'the task as before, or another file',
      });
    }
    return wanted.filter((trajectory) => number(trajectory) < repeats);
  }

  /** @throws DartError where the policy is not the one that the file's rollouts are of, or the disk is full. */
  async write(trajectory: Trajectory): Promise<void> {
    this.#samePolicy(trajectory, this.path);
    try {
      await this.#file.appendFile(`${JSON.stringify(trajectory)}\n`);
    } catch (error) {
      throw fileError(error, 'write', this.path);
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #read(): Promise<void> {
    const whole = await endOfLines(this.path);
    await this.#file.truncate(whole);
    if (whole === 0) return;
    for await (const { record, where } of readRecords(createReadStream(this.path), { name: this.path })) {
      if (record.type !== 'trajectory') {
        throw new DartError(`a ${record.type} record, where rollouts are expected`, {
          where,
          hint: 'a file that --resume or --trajectories wrote, or a new name',
        });
      }
      const trajectory = parseRecord('trajectory', record, where);
      this.#sameTerms(trajectory, where);
      if (trajectory.reward === null) continue;
      this.#samePolicy(trajectory, where);
      this.before.push(trajectory);
    }
  }

  /** Rollouts that do not say something (older files, other writers) are taken to be as they should. */
  #sameTerms(trajectory: Trajectory, where: string): void {
    const { sampling, limits, protocol, fail_at_limit, policy } = trajectory;
    const found: Record<keyof Terms, unknown> = {
      policy: policy.identity,
      maxSteps: limits.max_steps,
      temperature: sampling.temperature,
      seed: sampling.seed ?? 0,
      protocol,
      failAtLimit: fail_at_limit,
    };
    for (const field of Object.keys(OPTIONS) as (keyof Terms)[]) {
      if (found[field] === undefined || found[field] === this.#terms[field]) continue;
      const [was, is] = [found[field], this.#terms[field]].map((value) => (field === 'policy' ? `(${value})` : value));
      throw new DartError(`this rollout was made with ${OPTIONS[field]} ${was}, not ${is}`, {
        where,
        hint: 'the same options as before, or another file',
      });
    }
  }

  /** The first rollout with a version says which policy it is about. */
  #samePolicy({ policy, steps }: Trajectory, where: string): void {
    if (steps.length === 0) return;
    const name = `${policy.name}, version ${policy.versions.join(', ')}`;
    this.#policy ??= name;
    if (this.#policy === name) return;
    throw new DartError(`a rollout of ${name} among those of ${this.#policy}`, {
      where,
      hint: 'the same policy as before, or another file',
    });
  }
}

function inUse(path: string): DartError {
  return new DartError('another dart-eval writes its rollouts to this file', {
    where: path,
    hint: 'wait for it, or another --resume file',
    exitCode: EXIT.locked,
  });
}

/** Bytes up to the last newline. */
async function endOfLines(path: string): Promise<number> {
  const { size } = await stat(path);
  const file = await open(path, 'r');
  try {
    const chunk = Buffer.alloc(1 << 16);
    for (let end = size; end > 0; ) {
      const start = Math.max(0, end - chunk.length);
      const { bytesRead } = await file.read(chunk, 0, end - start, start);
      const newline = chunk.subarray(0, bytesRead).lastIndexOf(10);
      if (newline !== -1) return start + newline + 1;
      end = start;
    }
    return 0;
  } finally {
    await file.close();
  }
}
