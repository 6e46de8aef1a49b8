import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import { Progress } from '../../lib/cli/progress.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { EXIT } from '../../lib/errors.ts';
import { pooledTrajectories } from '../../lib/store/experience_entries.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { storeToRead } from './store.ts';

/** `dart-curate pool export`: the pool's successes as trajectory records, in the order in which they entered it. */
export async function exportPool(context: CommandContext): Promise<number> {
  const task = context.options.task as string | undefined;
  const store = await storeToRead(context);
  const progress = new Progress(context, 'export');
  try {
    const output = await openOutput(context);
    let count = 0;
    for await (const trajectory of pooledTrajectories(store, task)) {
      context.io.signal.throwIfAborted();
      await output.write(trajectory);
      count += 1;
      progress.update(() => `${count} successes`);
    }
    const command = 'dart-curate pool export';
    await output.write({ type: 'summary', v: SCHEMA_VERSION, command, successes: count });
    await output.close();
    progress.done(`${count} successes`);
    if (count > 0) return EXIT.ok;
    logOf(context).info(task === undefined ? 'the pool is empty' : `the pool has no success of task ${task}`);
    return EXIT.negative;
  } finally {
    progress.stop();
    await store.close();
  }
}
