/**
 * A document that cannot be read, or holds a value that makes no sense. Whose fault that is, the caller knows: the
 * agent's where it is the result, the task's where it is the expected file.
 */
export class BrokenDocument extends Error {}

/** What `read` gives; whatever it throws becomes a BrokenDocument. For the outer edge of readers only. */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof BrokenDocument) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BrokenDocument(`${what}: ${reason}`, { cause });
  }
}
