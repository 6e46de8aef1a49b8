import { Writable } from 'node:stream';
import { settleOutputs } from '../../lib/cli/output.ts';
import type { CommandContext, Io } from '../../lib/cli/spec.ts';
import { keepVerdict } from '../../lib/cli/stop.ts';
import { outputError, ReaderGone } from '../../lib/stream/writer.ts';

/** Options that ask for a verdict, or for files beside the records. */
const ASKING = ['fail-under', 'baseline', 'max-regression', 'report'];

/**
 * Runs a command whose exit code or reports are wanted whoever reads the records: `dart-eval … --fail-under 0.9 | head -1`
 * must neither end early nor say 0. Where neither is asked for, a reader that leaves ends the command as it does elsewhere.
 */
export async function whoeverReads(
  context: CommandContext,
  run: (context: CommandContext) => Promise<number>,
): Promise<number> {
  if (!ASKING.some((name) => isGiven(context.options[name]))) return run(context);
  const stop = new AbortController();
  const { signal } = context.io;
  const pass = () => {
    if (!(signal.reason instanceof ReaderGone)) stop.abort(signal.reason);
  };
  if (signal.aborted) pass();
  signal.addEventListener('abort', pass);
  keepVerdict(context.io);
  // Not spread: that would open standard input.
  const io: Io = Object.create(context.io, {
    signal: { value: stop.signal },
    stdout: { value: withoutReader(context.io.stdout) },
  });
  try {
    const code = await run({ ...context, io });
    await settleOutputs(io, true);
    return code;
  } catch (error) {
    await settleOutputs(io, false);
    throw error;
  } finally {
    signal.removeEventListener('abort', pass);
  }
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined;
}

/** What is written after the reader has left is dropped; every other error stays one. */
function withoutReader(stdout: Io['stdout']): Writable {
  stdout.on('error', () => {});
  return new Writable({
    decodeStrings: false,
    write(chunk, encoding, done) {
      stdout.write(chunk, encoding, (error) => {
        const isGone = error && outputError(error, 'stdout') instanceof ReaderGone;
        done(isGone ? null : error);
      });
    },
  });
}
