import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import type { Guest } from '../../lib/guest/guest.ts';

/**
 * The desktop that the command line names: one behind a server, or a fresh embedded one. It answers at once or not at
 * all: nobody wants to wait here for one that is not up.
 */
export async function openDesktop(context: CommandContext): Promise<Guest> {
  const [name = ''] = context.positionals;
  if (name === 'embedded') {
    const { createEmbeddedGuest } = await import('../../lib/desktop/guest.ts');
    const guest = createEmbeddedGuest('embedded');
    await guest.reset((context.options.seed as number | undefined) ?? 0);
    return guest;
  }
  const url = serverOf(name);
  const { HttpGuest } = await import('../../lib/guest/http_client.ts');
  return HttpGuest.connect(url, { tries: 1, signal: context.io.signal });
}

function serverOf(name: string): string {
  const url = URL.canParse(name) ? new URL(name) : null;
  if (url && /^https?:$/.test(url.protocol)) return name;
  throw new UsageError(`${JSON.stringify(name)} is no desktop`, { hint: 'its server_url, http://127.0.0.1:5000' });
}
