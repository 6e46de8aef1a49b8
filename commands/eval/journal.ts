import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DartError } from '../../lib/errors.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { makeFolder } from '../../lib/stream/files.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import { readRecords } from '../../lib/stream/reader.ts';
import type { Trajectory } from '../../lib/stream/records.ts';

/** What must be the same for rollouts of two runs to count as one evaluation. */
export interface Terms {
  maxSteps: number;
  temperature: number;
  seed: number;
  /** `verified`, `strict` or `hard`. */
  protocol: string;
}

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
   * @throws DartError for a file that holds something else, or rollouts on other terms.
   */
  static async open(path: string, terms: Terms): Promise<Journal> {
    let file: FileHandle | undefined;
    try {
      await makeFolder(dirname(path));
      file = await open(path, 'a+');
      const journal = new Journal(path, file, terms);
      await journal.#read();
      return journal;
    } catch (error) {
      await file?.close();
      throw error instanceof DartError ? error : fileError(error, 'write', path);
    }
  }

  /** The rollouts that belong to an evaluation of these tasks with so many repeats. */
  of(tasks: ReadonlySet<string>, repeats: number): Trajectory[] {
    // A group's number is its last part: of each task the repeats are numbered from 0.
    const number = ({ group_id }: Trajectory) => Number(group_id.slice(group_id.lastIndexOf('/') + 1));
    return this.before.filter((trajectory) => tasks.has(trajectory.task_id) && number(trajectory) < repeats);
  }

  /** @throws DartError where the policy is not the one that the file's rollouts are of, or the disk is full. */
  async write(trajectory: Trajectory): Promise<void> {
    this.#samePolicy(trajectory, this.path);
    try {
      await this.#file.appendFile(`${JSON.stringify({ ...trajectory, protocol: this.#terms.protocol })}\n`);
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

  #sameTerms(trajectory: Trajectory, where: string): void {
    const { sampling, limits, protocol } = trajectory;
    const found: Terms = {
      maxSteps: limits.max_steps,
      temperature: sampling.temperature,
      seed: sampling.seed ?? 0,
      protocol: typeof protocol === 'string' ? protocol : this.#terms.protocol,
    };
    const names = { maxSteps: '--max-steps', temperature: '--temperature', seed: '--seed', protocol: '--protocol' };
    for (const [field, option] of Object.entries(names) as [keyof Terms, string][]) {
      if (found[field] === this.#terms[field]) continue;
      throw new DartError(`this rollout was made with ${option} ${found[field]}, not ${this.#terms[field]}`, {
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
