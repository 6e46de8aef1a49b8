import { DartError, EXIT } from '../errors.ts';
import { codeOf, fileError } from '../stream/errno.ts';
import { renderShortHelp } from './help.ts';
import { usageOf } from './layout.ts';
import type { Log } from './log.ts';
import { withOrigins } from './origins.ts';
import type { Resolved } from './resolve.ts';
import type { CommandSpec, Io } from './spec.ts';
import { isAbort, stopCode } from './stop.ts';
import { NoInput, UsageError } from './usage.ts';

export interface Place {
  spec: CommandSpec;
  /** Names from the command down. */
  path: readonly string[];
  io: Io;
  log: Log;
  /** Where the options' values came from, as soon as that is known. */
  options?: ReadonlyMap<string, Resolved>;
}

/** Tells people what went wrong, and hands back the exit code for it. */
export function report(thrown: unknown, place: Place): number {
  const { io, log } = place;
  const stopped = io.signal.aborted ? stopCode(io.signal.reason) : undefined;
  const error = stopped === undefined && io.signal.aborted ? causeOf(thrown, io.signal.reason) : thrown;
  const code = stopped ?? stopCode(error);
  if (code !== undefined) {
    // What fails while everything is being stopped fails because of that.
    log.debug(`after the stop: ${stackOf(error)}`);
    return code;
  }
  if (error instanceof NoInput) {
    io.stderr.write(renderShortHelp(place.spec, place.path));
    return EXIT.failure;
  }
  const known = asDartError(error);
  return known ? reportKnown(known, place) : reportBug(error, log);
}

/** What made the command end: its signal's reason, where that is an error to be told or what was thrown says nothing. */
function causeOf(thrown: unknown, reason: unknown): unknown {
  return reason instanceof DartError || isAbort(thrown) ? reason : thrown;
}

function reportKnown(error: DartError, place: Place): number {
  const { log, spec, path, io } = place;
  const { message, where, hint } = withOrigins(error, place.options ?? new Map());
  const told = log.options.format === 'json' ? message : new DartError(message, { where, hint }).describe();
  log.error(told, { where, hint });
  if (log.shows('debug')) log.debug(stackOf(error));
  if (error instanceof UsageError && log.options.format === 'text') {
    io.stderr.write(`Usage: ${usageOf(spec, path)}\n`);
  }
  return error.exitCode;
}

function reportBug(error: unknown, log: Log): number {
  log.error(`${stackOf(error)}\nthis is a bug in the toolkit; please report it with the lines above`);
  return EXIT.failure;
}

/** Also the system's errors about a path, which some library threw as they are. */
function asDartError(error: unknown): DartError | null {
  if (error instanceof DartError) return error;
  const path = (error as { path?: unknown } | null)?.path;
  if (codeOf(error) === undefined || typeof path !== 'string') return null;
  const said = fileError(error, `${(error as { syscall?: string }).syscall ?? 'use'}`, path);
  return said instanceof DartError ? said : null;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`;
}
