import { ReaderGone } from '../stream/writer.ts';
import type { Io } from './spec.ts';

/** The command was told to stop by a signal: the reason that `io.signal` aborts with. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}`);
    this.name = 'Interrupted';
    this.exitCode = STOPPING[signal] ?? 143;
  }
}

/** 128 + the signal's number, as shells count. */
export const STOPPING: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** Why the command is to stop, as an exit code: 0 where its reader has left. Undefined for any other reason. */
export function stopCode(reason: unknown): number | undefined {
  if (reason instanceof ReaderGone) return 0;
  return reason instanceof Interrupted ? reason.exitCode : undefined;
}

const standing = new WeakSet<Io>();

/** The command's exit code is an answer that was asked for: it stands also where the reader of its records has left. */
export function keepVerdict(io: Io): void {
  standing.add(io);
}

/** Whether an exit code stands in spite of what the command was told to stop for. */
export function verdictStands(io: Io): boolean {
  return standing.has(io) && io.signal.reason instanceof ReaderGone;
}

const leftBehind = new Set<string>();

/**
 * What the user is told where a second Ctrl-C skips the clean-up: that something stays behind, and how to remove it.
 * @returns takes it back, once there is nothing to clean up.
 */
export function onSkippedCleanUp(text: string): () => void {
  leftBehind.add(text);
  return () => leftBehind.delete(text);
}

/** What stays behind if the process ends now. */
export function skippedCleanUps(): string[] {
  return [...leftBehind];
}

/** True for the errors that Node's own functions throw when their signal aborts. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
