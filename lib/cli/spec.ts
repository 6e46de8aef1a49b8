import type { Readable, Writable } from 'node:stream';

/** One option, once: parsing, help, man page, completion and the reference in `docs/` are all made from it. */
export interface OptionSpec {
  /** Long name without dashes, `max-steps`. */
  name: string;
  alias?: string;
  type: 'string' | 'integer' | 'number' | 'boolean';
  /** Word in the help for the value, `FILE`, `N`, `SPEC`. */
  value?: string;
  /** One sentence, no full stop. */
  describe: string;
  default?: string | number | boolean;
  /** What the help says of the default where the command itself sets it. */
  defaultText?: string;
  choices?: readonly string[];
  min?: number;
  /** Takes 0 as well, below `min`. */
  orZero?: boolean;
  max?: number;
  /** May be given several times (an array of values). */
  multiple?: boolean;
  required?: boolean;
  /** Heading under which the help lists it. */
  group?: string;
}

export interface PositionalSpec {
  name: string;
  describe: string;
  multiple?: boolean;
  required?: boolean;
}

/** The value that a command takes where nobody gave one, and what decided it: `preset dart`. */
export interface Effective {
  value: string | number | boolean | null;
  from: string;
}

export interface CommandSpec {
  /** `dart-rollout`, or a subcommand: `score`. */
  name: string;
  /** One line. */
  summary: string;
  /** Paragraphs of the page. */
  description?: string;
  options: readonly OptionSpec[];
  positionals?: readonly PositionalSpec[];
  subcommands?: readonly CommandSpec[];
  examples?: readonly { command: string; describe: string }[];
  /** Exit codes that differ from the common ones. */
  exitCodes?: Readonly<Record<number, string>>;
  /** What options come to that were not given and have no default: for `--print-config`. */
  effective?: (options: CommandContext['options']) => Promise<Readonly<Record<string, Effective>>>;
  /** Absent for a command that only has subcommands. */
  run?: (context: CommandContext) => Promise<number>;
}

/** The streams and surroundings of one command; tests pass their own. */
export interface Io {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** Aborts on SIGINT, SIGTERM and when the reader of stdout has gone; the reason says which. */
  signal: AbortSignal;
}

export type OptionValue = string | number | boolean | string[] | undefined;

export interface CommandContext {
  io: Io;
  /** Resolved values: flags > DART_* > config file > default. */
  options: Readonly<Record<string, OptionValue>>;
  positionals: readonly string[];
  /** Name of the executable, for messages: `dart-eval`, also in its subcommands. */
  command?: string;
  /** The same with its subcommands, for advice on what to type: `dart-eval score`. */
  called?: string;
}
