/** Exit codes of every command (design §12). */
export const EXIT = {
  /** Done. */
  ok: 0,
  /** A valid "no": below the threshold, nothing kept. */
  negative: 1,
  /** Usage, input or output error. */
  failure: 2,
  /** Another run holds the lock. */
  locked: 75,
  /** Ended by SIGINT. */
  interrupted: 130,
  /** Ended by SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface DartErrorOptions {
  /** Where it happened: `file:line`, a task id, a desktop, a column. */
  where?: string;
  /** One thing that the user can try; printed after "Try: ". */
  hint?: string;
  exitCode?: ExitCode;
  cause?: unknown;
}

/**
 * The one error that commands show to people. `message` says what happened; `where` and `hint` the rest.
 * Anything else that is thrown is a bug and is shown with its stack.
 */
export class DartError extends Error {
  readonly where: string | undefined;
  readonly hint: string | undefined;
  readonly exitCode: ExitCode;

  constructor(message: string, options: DartErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DartError';
    this.where = options.where;
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? EXIT.failure;
  }

  /** `where: message. Try: hint` on one line. */
  describe(): string {
    return this.hint ? `${this.statement()}. Try: ${this.hint}` : this.statement();
  }

  /** `where: message`, for an error around this one that takes over its hint: a line has one "Try". */
  statement(): string {
    return this.where ? `${this.where}: ${this.message}` : this.message;
  }
}

/** The message of whatever was thrown, on one line. */
export function messageOf(error: unknown): string {
  if (error instanceof DartError) return error.describe();
  if (error instanceof Error) return error.message;
  return String(error);
}
