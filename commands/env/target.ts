import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import type { DriverKind } from '../../lib/environment/kind.ts';
import { DartError } from '../../lib/errors.ts';
import type { Guest } from '../../lib/guest/guest.ts';
import { openFleets } from './fleets.ts';

/**
 * The desktop that the command line names: one behind a server, one that runs by its env_id, or a fresh embedded one. It
 * answers at once or not at all: nobody wants to wait here for one that is not up.
 */
export async function openDesktop(context: CommandContext, kinds?: readonly DriverKind[]): Promise<Guest> {
  const [name = ''] = context.positionals;
  if (name === 'embedded') {
    const { createEmbeddedGuest } = await import('../../lib/desktop/guest.ts');
    const guest = createEmbeddedGuest('embedded');
    await guest.reset((context.options.seed as number | undefined) ?? 0);
    return guest;
  }
  const url = isServer(name) ? name : await serverOf(context, name, kinds);
  const { HttpGuest } = await import('../../lib/guest/http_client.ts');
  return HttpGuest.connect(url, { id: name, tries: 1, signal: context.io.signal });
}

/** Whether a word on the command line is the address of a server. */
export function isServer(name: string): boolean {
  return URL.canParse(name) && /^https?:$/.test(new URL(name).protocol);
}

async function serverOf(context: CommandContext, name: string, kinds?: readonly DriverKind[]): Promise<string> {
  const fleets = await openFleets(context, kinds).catch((error: unknown) => {
    // Where no kind can be looked at, the word was hardly meant as the name of a desktop.
    throw context.options.driver === undefined ? noDesktop(name) : error;
  });
  try {
    const found = fleets.all.find(({ member }) => member.id === name);
    if (!found) throw noDesktop(name);
    const { server_url, state } = found.member;
    if (server_url !== null) return server_url;
    throw new DartError(`this desktop has no server now: it is ${state}`, {
      where: name,
      hint: `dart-env logs ${name}`,
    });
  } finally {
    await fleets.close();
  }
}

function noDesktop(name: string): UsageError {
  const hint = 'its server_url, http://127.0.0.1:5000, or an env_id of dart-env list';
  return new UsageError(`${JSON.stringify(name)} is no desktop`, { hint });
}
