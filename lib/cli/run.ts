import { EXIT } from '../errors.ts';
import { outputError, RecordWriter } from '../stream/writer.ts';
import { variableWarnings } from './environment.ts';
import { parseFlags } from './flags.ts';
import { renderHelp, renderShortHelp } from './help.ts';
import { type Level, Log, logOf } from './log.ts';
import { refuseMistyped } from './mistyped.ts';
import { settleOutputs } from './output.ts';
import { packageVersion } from './paths.ts';
import { type Place, report } from './report.ts';
import { configRecord, resolveOptions } from './resolve.ts';
import { refuseSameFile } from './same-file.ts';
import type { CommandContext, CommandSpec, Io, OptionValue } from './spec.ts';
import { stopCode, verdictStands } from './stop.ts';
import { nearest, UsageError } from './usage.ts';

/**
 * Runs a command in this process and hands back its exit code; never throws and never ends the process. Streams and
 * surroundings that `io` leaves out are the process's own.
 * @param argv What stands after the command's name.
 */
export async function runCommand(spec: CommandSpec, argv: readonly string[], io: Partial<Io> = {}): Promise<number> {
  const full = completeIo(io);
  const { command, path, rest } = descend(spec, argv);
  const place: Place = { spec: command, path, io: full, log: earlyLog(spec.name, rest, full) };
  try {
    if (asks(rest, '--help', '-h')) return await print(full, renderHelp(command, path));
    if (asks(rest, '--version')) return await print(full, `${spec.name} ${packageVersion()}\n`);
    if (!command.run) return withoutSubcommand(place, rest);
    const code = await start(place, rest, spec);
    if (!full.signal.aborted || verdictStands(full)) return code;
    // A command takes any abort for a request to stop; the output that failed is told here.
    return stopCode(full.signal.reason) ?? report(full.signal.reason, place);
  } catch (error) {
    return report(error, place);
  }
}

/** The subcommand that the first words name, and what is left of the line. */
function descend(spec: CommandSpec, argv: readonly string[]) {
  let command = spec;
  let rest = argv;
  const path = [spec.name];
  for (;;) {
    const next = command.subcommands?.find((sub) => sub.name === rest[0]);
    if (!next) return { command, path, rest };
    command = next;
    path.push(next.name);
    rest = rest.slice(1);
  }
}

async function start(place: Place, argv: readonly string[], root: CommandSpec): Promise<number> {
  const { spec, path, io } = place;
  const flags = await parseFlags(spec, argv, path);
  const resolution = resolveOptions(spec, flags, path, io);
  place.options = resolution.options;
  const options: Record<string, OptionValue> = {};
  for (const [name, resolved] of resolution.options) options[name] = resolved.value;
  const context: CommandContext = {
    io,
    options,
    positionals: flags.positionals,
    command: path[0],
    called: path.join(' '),
  };
  place.log = logOf(context);
  const warnings = [...resolution.warnings, ...variableWarnings(io.env, spec, root)];
  for (const warning of warnings) place.log.warn(warning);
  if (options['print-config'] === true) {
    const writer = new RecordWriter(io.stdout, { signal: io.signal });
    await writer.write(configRecord(path.join(' '), resolution, await spec.effective?.(options)));
    await writer.flush();
    return EXIT.ok;
  }
  refuseMistyped(spec, context, path);
  refuseSameFile(spec, context);
  try {
    const code = (await spec.run?.(context)) ?? EXIT.ok;
    await settleOutputs(io, true);
    return code;
  } catch (error) {
    await settleOutputs(io, false);
    throw error;
  } finally {
    place.log.tellRest();
  }
}

function withoutSubcommand(place: Place, rest: readonly string[]): number {
  const { spec, path, io } = place;
  const word = rest.find((item) => !item.startsWith('-'));
  const names = (spec.subcommands ?? []).map((sub) => sub.name);
  if (word === undefined && rest.length === 0) {
    io.stderr.write(renderShortHelp(spec, path));
    return EXIT.failure;
  }
  const near = word === undefined ? undefined : nearest(word, names);
  const hint = near ? `${path.join(' ')} ${near}` : `${path.join(' ')} ${names.join('|')}`;
  throw new UsageError(word === undefined ? 'a subcommand comes first' : `unknown subcommand '${word}'`, { hint });
}

/** True where one of the words stands among the options, before any `--`. */
function asks(argv: readonly string[], ...words: string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).some((item) => words.includes(item));
}

async function print(io: Io, text: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    io.stdout.write(text, (error) => (error ? reject(outputError(error, 'stdout')) : resolve()));
  });
  return EXIT.ok;
}

/** The log as far as it can be known before the options are: an error among them must be told in the right form. */
function earlyLog(command: string, argv: readonly string[], io: Io): Log {
  const at = argv.indexOf('--log-format');
  const asked = at === -1 ? argv.find((item) => item.startsWith('--log-format='))?.slice(13) : argv[at + 1];
  const level: Level = 'info';
  const format = (asked ?? io.env.DART_LOG_FORMAT) === 'json' ? 'json' : 'text';
  return new Log(io, { command, level, format });
}

function completeIo(io: Partial<Io>): Io {
  return {
    // Only those who read standard input open it.
    get stdin() {
      return io.stdin ?? process.stdin;
    },
    stdout: io.stdout ?? process.stdout,
    stderr: io.stderr ?? process.stderr,
    env: io.env ?? process.env,
    cwd: io.cwd ?? process.cwd(),
    signal: io.signal ?? new AbortController().signal,
  };
}
