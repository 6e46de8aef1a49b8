import { visible } from '../stream/visible.ts';
import type { CommandContext, Io } from './spec.ts';

const LEVELS = ['error', 'warn', 'info', 'debug'] as const;
export type Level = (typeof LEVELS)[number];

export interface LogOptions {
  /** Name before each line. */
  command: string;
  level: Level;
  format: 'text' | 'json';
}

/** Extra facts of a line: only shown in JSON. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Warnings of one kind that are shown before the rest is only counted. */
const FIRST = 10;
/** How many warnings of each kind there have been, by the stream that they went to: a command has many logs. */
const seen = new WeakMap<Io['stderr'], Map<string, number>>();

/** Messages for people (or their log collector), all on stderr. */
export class Log {
  readonly options: LogOptions;
  readonly #io: Pick<Io, 'stderr'>;

  constructor(io: Pick<Io, 'stderr'>, options: LogOptions) {
    this.#io = io;
    this.options = options;
  }

  error(message: string, fields?: LogFields): void {
    this.line('error', message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.line('warn', message, fields);
  }

  /**
   * A warning of which there may be thousands. The first ten of its kind are shown, then the 100th, the 1000th and so on;
   * at the end `tellRest` says how many there were. `--log-level debug` shows all.
   * @param kind what `tellRest` calls them: `records left out`; without one it is like no other.
   */
  warnOften(kind: string | undefined, message: string): void {
    if (kind === undefined) {
      this.warn(message);
      return;
    }
    const kinds = seen.get(this.#io.stderr) ?? new Map<string, number>();
    const count = (kinds.get(kind) ?? 0) + 1;
    seen.set(this.#io.stderr, kinds.set(kind, count));
    if (count <= FIRST || this.shows('debug')) this.warn(message);
    else if (Number.isInteger(Math.log10(count))) this.warn(`${message} (${count} ${kind} so far)`);
  }

  /** The last word on warnings that were not shown one by one. */
  tellRest(): void {
    for (const [kind, count] of seen.get(this.#io.stderr) ?? []) {
      if (count <= FIRST || this.shows('debug')) continue;
      this.warn(`${count} ${kind} in all, of which not each was told. Try: --log-level debug`);
    }
    seen.delete(this.#io.stderr);
  }

  info(message: string, fields?: LogFields): void {
    this.line('info', message, fields);
  }

  debug(message: string, fields?: LogFields): void {
    this.line('debug', message, fields);
  }

  shows(level: Level): boolean {
    return LEVELS.indexOf(level) <= LEVELS.indexOf(this.options.level);
  }

  line(level: Level, message: string, fields: LogFields = {}): void {
    if (!this.shows(level)) return;
    const { command, format } = this.options;
    if (format === 'json') {
      const record = { time: new Date().toISOString(), level, command, message, ...fields };
      this.#io.stderr.write(`${JSON.stringify(record)}\n`);
      return;
    }
    const mark = level === 'warn' ? 'warning: ' : '';
    // Names of tasks and words of servers come from elsewhere: none of them may drive the terminal.
    this.#io.stderr.write(`${command}: ${mark}${visible(message)}\n`);
  }
}

/** The log of a running command, by its `--quiet`, `--log-level` and `--log-format`. */
export function logOf(context: CommandContext): Log {
  const { options } = context;
  const level = LEVELS.find((name) => name === options['log-level']) ?? 'info';
  return new Log(context.io, {
    command: context.command ?? 'dart',
    level: options.quiet === true && level === 'info' ? 'warn' : level,
    format: options['log-format'] === 'json' ? 'json' : 'text',
  });
}
