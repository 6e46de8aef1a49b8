import { DartError, messageOf } from '../../../errors.ts';
import type { FetchedFile } from '../../context.ts';
import type { Metric, MetricInput } from '../../kinds.ts';
import { decode, expectedFiles, resultFile } from '../input.ts';

type Read<T> = (bytes: Uint8Array, file: FetchedFile) => T | Promise<T>;

/** What a reader makes of a file that the agent left; null where it is missing or broken. */
export async function ofAgent<T>(file: FetchedFile | null, read: Read<T>): Promise<T | null> {
  if (file === null) return null;
  try {
    return await read(file.bytes, file);
  } catch {
    return null;
  }
}

/** What a reader makes of a file of the task. Throws a DartError where it is broken. */
export async function ofTask<T>(file: FetchedFile, read: Read<T>, input: MetricInput): Promise<T> {
  try {
    return await read(file.bytes, file);
  } catch (cause) {
    const message = `metric ${input.name}: expected file ${file.name} cannot be read: ${messageOf(cause)}`;
    throw new DartError(message, { where: input.where, cause });
  }
}

/** A metric on two files that are read alike: 0 where the result is missing or broken. */
export function onBothFiles<T>(
  read: Read<T>,
  compare: (result: T, expected: T, input: MetricInput) => number | boolean | Promise<number | boolean>,
): Metric {
  return async (input) => {
    // First, since it must be in order whatever the agent left.
    const expected = await ofTask(expectedFiles(input)[0]!, read, input);
    const result = await ofAgent(resultFile(input), read);
    return result === null ? 0 : Number(await compare(result, expected, input));
  };
}

/** Text of a file, as `onBothFiles` reads it. */
export const asText: Read<string> = (_bytes, file) => decode(file);
