import { statSync } from 'node:fs';
import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { type Output, openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';
import { Known, linesOf, missingOf, survey, updateOf } from './kept.ts';
import { textOf } from './settings.ts';

/** The run that writes, and the version that it goes on from; null where it begins. */
export interface WritingRun {
  runId: string;
  version: number | null;
  /** The update that a rule ended it after and ends it after again, without making it anew; null where none does. */
  stoppedAt: number | null;
}

/** Where the records of a run go. */
export type RunOutput = Pick<Output, 'write' | 'close'>;

/**
 * Where the records go. A run that goes on keeps what `-o FILE` holds of it: the new records come after those, and in place
 * of those of updates that were lost and are made again. The file is still put in its place whole, at the end.
 * @throws DartError where the file holds the records of another run.
 */
export async function openRunOutput(context: CommandContext, run: WritingRun): Promise<RunOutput> {
  const path = textOf(context.options, 'output') ?? '-';
  const { version } = run;
  const file = resolvePath(context.io, path);
  const found = path === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (version === null || path === '-' || (found && !found.isFile())) return openOutput(context);
  const has = found ? await survey(file, path) : null;
  if (has) refuseOthers(has.runs, run.runId, path);
  const missing = missingOf(has?.updates ?? new Set(), version);
  if (missing !== '') {
    const what = `what this run reported of update${/[-,]/.test(missing) ? 's' : ''} ${missing}`;
    logOf(context).warn(`${path} lacks ${what}; it goes on from version ${version}. Try: >> ${path} in place of -o`);
  } else if (has?.trained) logOf(context).info(`${path} has what this run reported until version ${version}`);
  const output = await openOutput(context);
  if (!has?.trained) return output;
  const kept = new KeptOutput(output, run.runId);
  await kept.keep(linesOf(file, path), Math.max(version, run.stoppedAt ?? 0));
  return kept;
}

function refuseOthers(runs: ReadonlySet<string>, runId: string, where: string): void {
  const others = [...runs].filter((id) => id !== runId).map((id) => `'${id}'`);
  if (others.length === 0) return;
  const what = `the file holds the records of run ${others.join(', ')}`;
  if (runs.has(runId))
    throw new DartError(`${what} besides those of '${runId}', which goes on`, {
      where,
      hint: 'another file, with the records of this run only',
    });
  throw new DartError(`${what}, and '${runId}' goes on`, {
    where,
    hint: 'another file, or --run-id with the name that the run had',
  });
}

/** Writes behind what a file has of the run, and each record once. */
class KeptOutput implements RunOutput {
  readonly #output: Output;
  readonly #runId: string;
  readonly #known = new Known();
  /** Lines of updates that are in no version, until those are made again. */
  readonly #lost = new Map<number, Buffer[]>();

  constructor(output: Output, runId: string) {
    this.#output = output;
    this.#runId = runId;
  }

  /** Copies what is of no update, or of one until `last`. */
  async keep(lines: ReturnType<typeof linesOf>, last: number): Promise<void> {
    for await (const { bytes, record, torn } of lines) {
      if (torn) continue;
      const update = record === null ? null : updateOf(record);
      const line = Buffer.concat([bytes, Buffer.from('\n')]);
      if (update !== null && update > last) {
        this.#lost.set(update, [...(this.#lost.get(update) ?? []), line]);
        continue;
      }
      if (record !== null && update === null) this.#known.add(record);
      await this.#output.writer.writeLines(line, 1);
    }
  }

  async write(record: AnyRecord): Promise<void> {
    const update = updateOf(record);
    if (update === null && this.#known.take(record)) return;
    if (record.type === 'summary' && record.run_id === this.#runId) await this.#putBack();
    else if (update !== null) this.#lost.delete(update);
    await this.#output.write(record);
  }

  close(): Promise<void> {
    return this.#output.close();
  }

  /** The run ends without having made these updates again. */
  async #putBack(): Promise<void> {
    for (const lines of this.#lost.values()) await this.#output.writer.writeLines(Buffer.concat(lines), lines.length);
    this.#lost.clear();
  }
}
