import { openAttached } from '../../lib/environment/attach.ts';
import type { EnvironmentPool } from '../../lib/environment/pool.ts';
import { messageOf } from '../../lib/errors.ts';
import { parseRecord } from '../../lib/stream/parse.ts';
import type { ReadRecord } from '../../lib/stream/reader.ts';

/**
 * Takes the desktops that come while a run goes on, and lets go of those that are told gone, until the stream ends. A
 * line that cannot be read ends it: the run goes on with the desktops that it has.
 */
export async function followDesktops(
  later: AsyncIterable<ReadRecord>,
  environments: Pick<EnvironmentPool, 'add' | 'retire' | 'closed'>,
  warn: (message: string) => void,
  stop: AbortSignal,
): Promise<void> {
  try {
    for await (const { record, where } of later) {
      if (record.type !== 'env') continue;
      const env = parseRecord('env', record, where);
      if (env.state === 'ready') environments.add(await openAttached([env]));
      else if (env.state === 'failed' || env.state === 'stopped') environments.retire(env.env_id);
    }
  } catch (error) {
    // At the end the stream is cut, by us or by its writer.
    if (environments.closed || stop.aborted) return;
    warn(`no more desktops are taken from standard input: ${messageOf(error)}`);
  }
}
