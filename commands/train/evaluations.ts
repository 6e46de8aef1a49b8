import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkInputs, resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import type { DartError } from '../../lib/errors.ts';
import { AnySignal } from '../../lib/stream/any_signal.ts';
import { followFile } from '../../lib/stream/follow.ts';
import { type ReadRecord, readRecords } from '../../lib/stream/reader.ts';
import { leave } from '../../lib/stream/waiting.ts';
import { isEvaluation } from '../../lib/training/rollback.ts';
import { textOf } from './settings.ts';

/** How often a file that is not there yet is looked for. */
const LOOK_MS = 200;

/**
 * That evaluations can come by `--evaluations FILE`; says so where the file has still to be made.
 * @throws DartError for a file that cannot be read.
 */
export async function checkEvaluations(context: CommandContext): Promise<void> {
  const path = textOf(context.options, 'evaluations');
  if (path === null) return;
  const file = resolvePath(context.io, path);
  if (await exists(file)) return checkInputs([path], context.io);
  logOf(context).info(`${path} is not there yet; evaluations are read when it is`);
}

/**
 * The input with the summaries of `--evaluations FILE` among its records, each as soon as it is written there: so they
 * come between two updates, never during one. Ends with the input.
 */
export function withEvaluations(
  context: CommandContext,
  input: AsyncIterable<ReadRecord>,
  signal: AbortSignal,
): AsyncIterable<ReadRecord> {
  const path = textOf(context.options, 'evaluations');
  return path === null ? input : joined(input, (ended) => evaluationsIn(context, path, ended), signal);
}

/** The evaluations that others write into a file, from its beginning. A line that cannot be read is told and left out. */
async function* evaluationsIn(
  context: CommandContext,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<ReadRecord, void, void> {
  const file = resolvePath(context.io, path);
  const warn = (message: string) => logOf(context).warn(message);
  while (!(await exists(file))) {
    if (signal.aborted) return;
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  const lines = followFile(file, signal, { onCut: warn });
  const onSkip = (error: DartError) => warn(`left out: ${error.describe()}`);
  for await (const read of readRecords(lines, { name: path, onError: 'skip', onSkip })) {
    if (isEvaluation(read.record)) yield read;
  }
}

/** The records of `input`, and those that come `aside` meanwhile, which go first. */
async function* joined(
  input: AsyncIterable<ReadRecord>,
  aside: (signal: AbortSignal) => AsyncIterable<ReadRecord>,
  outer: AbortSignal,
): AsyncGenerator<ReadRecord, void, void> {
  const ended = new AbortController();
  const any = new AnySignal([outer, ended.signal]);
  const iterator = input[Symbol.asyncIterator]();
  const arrived: ReadRecord[] = [];
  const failures: unknown[] = [];
  let wake = () => {};
  const pump = async () => {
    for await (const read of aside(any.signal)) {
      arrived.push(read);
      wake();
    }
  };
  void pump()
    .catch((error: unknown) => failures.push(error))
    .finally(() => wake());
  try {
    for (;;) {
      const next = iterator.next();
      let settled = false;
      const settle = () => {
        settled = true;
        wake();
      };
      next.then(settle, settle);
      while (!settled || arrived.length > 0) {
        if (failures.length > 0) throw failures[0];
        if (outer.aborted) return;
        if (arrived.length > 0) yield arrived.shift()!;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
      const result = await next;
      if (result.done) return;
      yield result.value;
    }
  } finally {
    ended.abort();
    any.release();
    leave(iterator);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
