/** Why a run ends although its input goes on: the reason of an aborted signal that is a limit, not an interruption. */
export class LimitReached extends Error {
  readonly limit: string;

  constructor(limit: string) {
    super(`--${limit} reached`);
    this.name = 'LimitReached';
    this.limit = limit;
  }
}

/** What the summary says of an aborted run: the limit's name, or `interrupted`. */
export function stopReason(signal: AbortSignal): string {
  return signal.reason instanceof LimitReached ? signal.reason.limit : 'interrupted';
}
