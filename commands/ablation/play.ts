import { DartError, messageOf } from '../../lib/errors.ts';
import { type Environment, helpOf, type Program, type Request, requestOf } from './program.ts';
import { Stopped, stopSignal } from './shell.ts';

/** What a program is called with. */
export interface Call<F extends string> {
  request: Request<F>;
  env: Environment;
  stop: AbortSignal;
  /** A line for people. */
  say: (line: string) => void;
}

/**
 * Plays a program with ARGS and environment of this process: help where that is asked for, one sentence and an exit code
 * where something is wrong.
 */
export function playProgram<F extends string>(
  program: Program<string, F>,
  main: (call: Call<F>) => Promise<void>,
): void {
  const say = (line: string) => void process.stderr.write(`${program.name}: ${line}\n`);
  const played = async () => {
    const request = requestOf(program, process.argv.slice(2));
    if (request.help) return void process.stdout.write(helpOf(program));
    await main({ request, env: process.env, stop: stopSignal(), say });
  };
  played().catch((error: unknown) => {
    say(error instanceof Stopped ? 'stopped; the same command goes on from here' : messageOf(error));
    process.exitCode = error instanceof Stopped || error instanceof DartError ? codeOf(error) : 2;
  });
}

function codeOf(error: Stopped | DartError): number {
  return error instanceof Stopped ? error.code : error.exitCode;
}
