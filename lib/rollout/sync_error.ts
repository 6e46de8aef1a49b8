import { DartError, type DartErrorOptions, messageOf } from '../errors.ts';
import { ServerFailure } from '../policy/openai/failure.ts';

/** A server was told to load a version, and nobody knows which one it has now. It must not serve until it is known. */
export class UncertainVersion extends DartError {
  constructor(message: string, options: DartErrorOptions = {}) {
    super(message, options);
    this.name = 'UncertainVersion';
  }
}

/** What became of an order to load that failed: a refusal leaves the old version, anything else leaves doubt. */
export function loadFailure(error: unknown, where: string, hint?: string): DartError {
  const certain = error instanceof ServerFailure && (error.kind === 'refused' || error.kind === 'unreachable');
  const message = error instanceof DartError ? error.message : messageOf(error);
  const options = { where, hint: hint ?? (error instanceof DartError ? error.hint : undefined), cause: error };
  return certain
    ? new DartError(`the version was refused: ${message}`, options)
    : new UncertainVersion(
        `loading the version failed, and it is not known which one is there now: ${message}`,
        options,
      );
}
