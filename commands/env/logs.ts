import type { CommandContext } from '../../lib/cli/spec.ts';
import type { DriverKind } from '../../lib/environment/kind.ts';
import { EXIT } from '../../lib/errors.ts';
import { openFleets } from './fleets.ts';
import { writeText } from './text.ts';

/** Prints what a desktop has logged. */
export async function run(context: CommandContext, kinds?: readonly DriverKind[]): Promise<number> {
  const { io, options, positionals } = context;
  const fleets = await openFleets(context, kinds);
  try {
    const { fleet, member } = fleets.named(positionals[0]!);
    const follow = options.follow === true;
    const asked = { follow, tail: options.tail as number | undefined, signal: io.signal };
    for await (const text of fleet.logs(member, asked)) await writeText(io.stdout, text, 'stdout');
  } finally {
    await fleets.close();
  }
  return EXIT.ok;
}
