import { parseArgs } from 'node:util';
import { DartError, EXIT, messageOf } from '../../lib/errors.ts';
import { parseSize, type RunningGuest, startGuest, TOKEN_VARIABLE } from '../../lib/guest/x11/program.ts';

/**
 * What a desktop image runs, and the xvfb driver: `dart-env guest` without the rest of the toolkit. Prints the env record
 * when the desktop is ready, and ends with SIGTERM or SIGINT; with `--hold` also when standard input ends, which tells
 * that whoever started it has gone.
 */
const OPTIONS = {
  id: { type: 'string', default: `desktop-${process.pid}` },
  host: { type: 'string' },
  port: { type: 'string', default: '5000' },
  open: { type: 'boolean' },
  size: { type: 'string', default: '1280x800' },
  home: { type: 'string' },
  skeleton: { type: 'string' },
  user: { type: 'string' },
  display: { type: 'string' },
  start: { type: 'string', multiple: true },
  hold: { type: 'boolean' },
} as const;

/** Resolves when it is to end, with the exit code. */
function told(hold: boolean): Promise<number> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve(EXIT.terminated));
    process.once('SIGINT', () => resolve(EXIT.interrupted));
    if (hold) process.stdin.resume().once('close', () => resolve(EXIT.ok));
  });
}

function numberOf(name: string, text: string, most: number): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= most) return Number(text);
  throw new DartError(`${JSON.stringify(text)} is no number from 0 to ${most}`, { where: `--${name}` });
}

async function run(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  const end = told(values.hold === true);
  const starting = startGuest({
    ...values,
    port: numberOf('port', values.port, 65_535),
    size: parseSize(values.size),
    display: values.display === undefined ? undefined : numberOf('display', values.display, 65_535),
    token: process.env[TOKEN_VARIABLE] || undefined,
  });
  // A signal that comes before it is ready is heard when it is.
  const running: RunningGuest = await starting;
  process.stdout.write(`${JSON.stringify(running.env)}\n`);
  const code = await end;
  await running.close();
  return code;
}

process.stdout.on('error', () => {});
run().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`guest_server: ${messageOf(error)}\n`);
    process.exit(EXIT.failure);
  },
);
