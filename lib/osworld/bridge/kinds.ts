/** A file on its way to or from the Python bridge. */
export interface BridgeFile {
  name: string;
  bytes: Uint8Array;
}

/** What an installed OSWorld does for us (design §5): the few metrics, getters and steps that we have no code for. */
export interface Bridge {
  /** OSWorld's metric `name`, 0..1. Values may hold files, at any depth. */
  score(name: string, result: unknown, expected: unknown, options: Record<string, unknown>): Promise<number>;
  /** OSWorld's getter; files come as files, what is not there as null. */
  fetch(type: string, config: Record<string, unknown>): Promise<unknown>;
  /** OSWorld's set-up step. */
  step(type: string, parameters: Record<string, unknown>): Promise<void>;
  close(): Promise<void>;
}
