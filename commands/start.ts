import { main } from '../lib/cli/main.ts';
import type { CommandSpec } from '../lib/cli/spec.ts';

/** What every executable does: the command, watched for a reader that leaves by the addon's poll(2). */
export async function start(spec: CommandSpec): Promise<void> {
  await main(spec, { pollHangup });
}

async function pollHangup(): Promise<(fd: number) => boolean> {
  try {
    const native = await import('../native/index.ts');
    native.pollHangup(1);
    return native.pollHangup;
  } catch {
    // Not built: a leaving reader is noticed when the next record is written.
    return () => false;
  }
}
