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
    this.#io.stderr.write(`${command}: ${mark}${message}\n`);
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
