import { onSkippedCleanUp } from '../lib/cli/stop.ts';
import { parseDesktops } from '../lib/environment/request.ts';
import type { Env } from '../lib/stream/records.ts';

/**
 * Says how to remove the desktops that a command starts, should a second Ctrl-C skip that. Those of others, and those in
 * this process, leave nothing behind.
 * @returns to be called when they are removed.
 */
export function tellOfCleanUp(desktops: string | readonly Env[], runId: string): () => void {
  if (typeof desktops !== 'string' || !parseDesktops(desktops).kind.fleet) return () => {};
  return onSkippedCleanUp(`desktops may stay behind. Try: dart-env down --run ${runId}`);
}
