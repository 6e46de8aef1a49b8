import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { memberRecord } from '../../lib/environment/fleets.ts';
import type { DriverKind, FleetMember } from '../../lib/environment/kind.ts';
import { EXIT } from '../../lib/errors.ts';
import { type Env, SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { openFleets } from './fleets.ts';

/** A desktop that does not say how large it is within this time is listed all the same. */
const ASK_MS = 5000;

/** Prints a record for each desktop that runs. */
export async function run(context: CommandContext, kinds?: readonly DriverKind[]): Promise<number> {
  const { options, io } = context;
  const output = await openOutput(context);
  const fleets = await openFleets(context, kinds);
  try {
    const members = fleets.all
      .map(({ member }) => member)
      .filter(({ run: id }) => options.run === undefined || id === options.run)
      .filter(({ orphan }) => orphan || options.orphans !== true);
    const records = await Promise.all(members.map(async (member) => memberRecord(member, await screenOf(member))));
    for (const record of records) await output.write(record);
    const orphans = members.filter(({ orphan }) => orphan).length;
    await output.write({
      ...{ type: 'summary', v: SCHEMA_VERSION, command: 'dart-env list', desktops: members.length, orphans },
    });
    await output.close();
    if (options.table === true) await printTable(io, HEAD, members.map(rowOf));
  } finally {
    await fleets.close();
  }
  return EXIT.ok;
}

const HEAD = ['desktop', 'run', 'state', 'server', 'since', 'whose'];

function rowOf(member: FleetMember): string[] {
  const { id, run: runId, state, server_url, created_at, detached, orphan } = member;
  const whose = orphan ? 'orphan' : detached ? 'detached' : 'in use';
  return [id, runId, state, (server_url ?? '').replace(/\/\/[^/@]*@/, '//'), created_at, whose];
}

async function screenOf({ server_url, state, id }: FleetMember): Promise<Env['screen'] | undefined> {
  if (server_url === null || state !== 'ready') return undefined;
  const { HttpGuest } = await import('../../lib/guest/http_client.ts');
  const asked = HttpGuest.connect(server_url, { id, tries: 1, signal: AbortSignal.timeout(ASK_MS) });
  return asked.then(
    ({ screen }) => ({ ...screen }),
    () => undefined,
  );
}
