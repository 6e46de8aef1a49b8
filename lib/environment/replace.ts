import { DartError } from '../errors.ts';
import { AnySignal } from '../stream/any_signal.ts';
import { parseRecord } from '../stream/parse.ts';
import type { Env } from '../stream/records.ts';

/** A boot may take long: OSWorld's image gets five minutes, and may have to wait for its turn. */
const REPLACE_MS = 900_000;

/**
 * Asks the command that holds a desktop for a clean one in its place.
 * @throws DartError where that command has gone, or could not start one.
 */
export async function replaceOverHttp(env: Env, signal?: AbortSignal): Promise<Env> {
  const where = env.env_id;
  const stop = new AnySignal([signal], REPLACE_MS);
  let response: Response;
  try {
    response = await fetch(env.replace_url!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ env_id: env.env_id }),
      signal: stop.signal,
    });
  } catch (cause) {
    const hint = 'whether the dart-env up that printed it still runs';
    throw new DartError('nobody is there to replace this desktop', { where, hint, cause });
  }
  const answer = (await response.json().catch(() => null)) as { error?: unknown } | null;
  if (!response.ok || answer === null) throw new DartError('asking for another desktop gave no answer', { where });
  if (answer.error !== undefined) throw new DartError(`could not be replaced: ${answer.error}`, { where });
  return parseRecord('env', answer, where);
}
