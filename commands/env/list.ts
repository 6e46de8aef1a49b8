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
    const chosen = fleets.all
      .map(({ member }) => member)
      .filter(({ run: id }) => options.run === undefined || id === options.run)
      .filter(({ orphan }) => orphan || options.orphans !== true);
    const asked = await Promise.all(chosen.map(ask));
    const members = asked.map(({ member }) => member);
    for (const { member, screen } of asked) await output.write(memberRecord(member, screen));
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

/** Its server knows best how large it is, and whether it can be used: a health check of its host comes later. */
async function ask(member: FleetMember): Promise<{ member: FleetMember; screen?: Env['screen'] }> {
  const { server_url, state, id } = member;
  if (server_url === null || state === 'exited') return { member };
  const { HttpGuest } = await import('../../lib/guest/http_client.ts');
  const asked = HttpGuest.connect(server_url, { id, tries: 1, signal: AbortSignal.timeout(ASK_MS) });
  return asked.then(
    ({ screen }) => ({ member: { ...member, state: 'ready' }, screen: { ...screen } }),
    () => ({ member }),
  );
}
