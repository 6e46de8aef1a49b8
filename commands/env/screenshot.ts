import { resolvePath } from '../../lib/cli/input.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { UsageError } from '../../lib/cli/usage.ts';
import { EXIT } from '../../lib/errors.ts';
import type { Guest } from '../../lib/guest/guest.ts';
import { writeWhole } from '../../lib/stream/files.ts';
import { type AnyRecord, SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { sha256Of } from '../../lib/stream/sha256.ts';
import { outputError } from '../../lib/stream/writer.ts';
import { openDesktop } from './target.ts';

/** One look, into a file (and records of it on standard output), or onto standard output as it is. */
export async function run(context: CommandContext): Promise<number> {
  const { io, options } = context;
  const path = String(options.output);
  if (path === '-' && (io.stdout as { isTTY?: boolean }).isTTY) {
    throw new UsageError('a terminal cannot show a PNG', { where: '-o', hint: 'a file' });
  }
  const guest = await openDesktop(context);
  try {
    if (path === '-') await writeBytes(context, (await guest.screenshot()).png());
    else await saveAndTell(context, guest, path);
  } finally {
    await guest.close();
  }
  return EXIT.ok;
}

/** Saves what the desktop shows; the record says what there is now. */
export async function saveScreen(context: CommandContext, guest: Guest, path: string): Promise<AnyRecord> {
  const frame = await guest.screenshot();
  const png = frame.png();
  await writeWhole(resolvePath(context.io, path), png);
  const sha256 = sha256Of(png);
  const { width, height } = frame;
  return { type: 'event', v: SCHEMA_VERSION, event: 'screenshot', desktop: guest.id, path, sha256, width, height };
}

async function saveAndTell(context: CommandContext, guest: Guest, path: string): Promise<void> {
  const output = await openOutput({ ...context, options: {} });
  await output.write(await saveScreen(context, guest, path));
  await output.write({ type: 'summary', v: SCHEMA_VERSION, command: 'dart-env screenshot', screenshots: 1 });
  await output.close();
}

function writeBytes({ io }: CommandContext, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    io.stdout.write(bytes, (error) => (error ? reject(outputError(error, 'stdout')) : resolve()));
  });
}
