import type { CommandContext } from '../../lib/cli/spec.ts';
import { type DriverKind, noProgram } from '../../lib/environment/kind.ts';
import { messageOf } from '../../lib/errors.ts';
import type { ExecuteResult } from '../../lib/guest/guest.ts';
import { openFleets, unlessStopped } from './fleets.ts';
import { isServer } from './target.ts';
import { writeText } from './text.ts';

/** Runs a program in a desktop, and ends as it ends. */
export async function run(context: CommandContext, kinds?: readonly DriverKind[]): Promise<number> {
  const { io, positionals } = context;
  const [name, ...command] = positionals as [string, ...string[]];
  const { output, error, returncode } = isServer(name)
    ? await executeAt(name, command, io.signal)
    : await unlessStopped(io.signal, executeIn(context, name, command, kinds));
  await writeText(io.stdout, output, 'stdout');
  await writeText(io.stderr, error, 'stderr');
  return returncode & 0xff;
}

async function executeAt(url: string, command: string[], signal: AbortSignal): Promise<ExecuteResult> {
  const { HttpGuest } = await import('../../lib/guest/http_client.ts');
  const guest = await HttpGuest.connect(url, { tries: 1, signal });
  return guest.execute(command, { shell: false }).catch((error: unknown) => {
    // As the other kinds have it: not a failure of ours.
    if (messageOf(error).includes(`there is no program ${command[0]},`)) return noProgram(command);
    throw error;
  });
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
    const { stdout, stderr } = context.io;
    return await fleet.exec(member, command, {
      stdout: (text) => writeText(stdout, text, 'stdout'),
      stderr: (text) => writeText(stderr, text, 'stderr'),
    });
  } finally {
    await fleets.close();
  }
}
