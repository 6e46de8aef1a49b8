import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { EXIT } from '../../lib/errors.ts';
import { type GuestProgram, parseSize, startGuest, TOKEN_VARIABLE } from '../../lib/guest/x11/program.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { ReaderGone } from '../../lib/stream/writer.ts';
import { stopped } from './hold.ts';

/** Starts the desktop, holds it until the command is stopped or its reader leaves, and removes it. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options } = context;
  const log = logOf(context);
  const program = programOf(context);
  if (options['dry-run'] === true) {
    log.info(`would start a desktop of ${options.size} on ${options.host}:${options.port}`);
    return EXIT.ok;
  }
  const output = await openOutput(context);
  const { env, guest, close } = await startGuest(program);
  try {
    await output.write(env);
    log.info(`the desktop is ready on ${env.server_url}, display ${guest.session.display}; Ctrl-C removes it`);
    await stopped(io.signal);
    if (io.signal.reason instanceof ReaderGone) return EXIT.ok;
    await output.write({ ...env, state: 'stopped' });
    await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-env guest', desktops: 1 });
    return EXIT.ok;
  } finally {
    await close();
  }
}

function programOf({ options, io }: CommandContext): GuestProgram {
  const { port, host, open, size, home, skeleton, user, display, start } = options;
  return {
    id: `guest-${process.pid}`,
    port: port as number,
    host: host as string,
    open: open === true,
    token: io.env[TOKEN_VARIABLE] || undefined,
    size: parseSize(size as string),
    home: home as string | undefined,
    skeleton: skeleton as string | undefined,
    user: user as string | undefined,
    display: display as number | undefined,
    start: start as string[] | undefined,
  };
}
