import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { type Fleets, type Found, memberRecord } from '../../lib/environment/fleets.ts';
import type { DriverKind } from '../../lib/environment/kind.ts';
import { EXIT, messageOf } from '../../lib/errors.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { openFleets, unlessStopped } from './fleets.ts';

/** Removes the desktops that the command line names; what cannot be removed is told, and the others go. */
export async function run(context: CommandContext, kinds?: readonly DriverKind[]): Promise<number> {
  const { options } = context;
  refuseNothing(context);
  const output = await openOutput(context);
  const fleets = await openFleets(context, kinds);
  let failed = 0;
  try {
    const chosen = chosenOf(context, fleets);
    const remove = async ({ fleet, member }: Found) => {
      try {
        if (options['dry-run'] !== true) await fleet.remove(member);
        await output.write({ ...memberRecord(member), state: 'stopped' });
      } catch (error) {
        failed += 1;
        logOf(context).warn(`${member.id} could not be removed: ${messageOf(error)}`);
      }
    };
    await unlessStopped(context.io.signal, Promise.all(chosen.map(remove)));
    const counts = { removed: chosen.length - failed, failed };
    await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-env down', ...counts });
    await output.close();
    const words = options['dry-run'] === true ? 'would be removed' : 'removed';
    logOf(context).info(`${counts.removed} ${counts.removed === 1 ? 'desktop' : 'desktops'} ${words}`);
  } finally {
    await fleets.close();
  }
  return failed > 0 ? EXIT.failure : EXIT.ok;
}

function refuseNothing({ options, positionals }: CommandContext): void {
  if (positionals.length > 0 || options.run !== undefined || options.orphans === true || options.all === true) return;
  throw new UsageError('nothing says which desktops', { hint: 'ENV, --run ID, --orphans or --all' });
}

function chosenOf({ options, positionals }: CommandContext, fleets: Fleets): Found[] {
  const named = new Set(positionals.map((id) => fleets.named(id)));
  return fleets.all.filter((found) => {
    const { member } = found;
    if (options.all === true || named.has(found)) return true;
    return member.run === options.run || (options.orphans === true && member.orphan);
  });
}
