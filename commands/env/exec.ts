import type { CommandContext } from '../../lib/cli/spec.ts';
import type { DriverKind } from '../../lib/environment/kind.ts';
import type { ExecuteResult } from '../../lib/guest/guest.ts';
import { openFleets } from './fleets.ts';
import { isServer } from './target.ts';
import { writeText } from './text.ts';

/** Runs a program in a desktop, and ends as it ends. */
export async function run(context: CommandContext, kinds?: readonly DriverKind[]): Promise<number> {
  const { io, positionals } = context;
  const [name, ...command] = positionals as [string, ...string[]];
  const { output, error, returncode } = isServer(name)
    ? await executeAt(name, command, io.signal)
    : await executeIn(context, name, command, kinds);
  await writeText(io.stdout, output, 'stdout');
  await writeText(io.stderr, error, 'stderr');
  return returncode & 0xff;
}

async function executeAt(url: string, command: string[], signal: AbortSignal): Promise<ExecuteResult> {
  const { HttpGuest } = await import('../../lib/guest/http_client.ts');
  const guest = await HttpGuest.connect(url, { tries: 1, signal });
  return guest.execute(command, { shell: false });
}

async function executeIn(
  context: CommandContext,
  id: string,
  command: string[],
  kinds?: readonly DriverKind[],
): Promise<ExecuteResult> {
  const fleets = await openFleets(context, kinds);
  try {
    const { fleet, member } = fleets.named(id);
    return await fleet.exec(member, command);
  } finally {
    await fleets.close();
  }
}
