import type { Ora } from 'ora';
import { type Log, logOf } from './log.ts';
import type { CommandContext, Io, OptionSpec } from './spec.ts';

/** For commands that let people choose; without the option it is `auto`. */
export const PROGRESS_OPTION: OptionSpec = {
  name: 'progress',
  type: 'string',
  value: 'HOW',
  choices: ['auto', 'bar', 'lines', 'none'],
  default: 'auto',
  describe:
    'Progress on stderr: a bar on a terminal and lines elsewhere (auto), a bar also where CI is set, a line every 10 s, or none',
  group: 'General',
};

/** Without a terminal, a line is written at most this often. */
const LINE_EVERY_MS = 5000;
/** With one, the text changes at most this often. */
const TEXT_EVERY_MS = 100;
/** How often it is looked at by itself. */
const WATCH_EVERY_MS = 500;

export interface ProgressOptions {
  /** How often there is a line, where there is no terminal. */
  lineEveryMs?: number;
}

/**
 * What a command is at: a spinner where stderr is a terminal, else a log line every few seconds; nothing with `--quiet`.
 * `--progress`, where a command has it, chooses otherwise. `update` is cheap enough to be called for every record.
 */
export class Progress {
  readonly #title: string;
  readonly #log: Log;
  readonly #silent: boolean;
  /** No progress was wanted, but the last word. */
  readonly #mute: boolean;
  readonly #terminal: boolean;
  readonly #lineEveryMs: number;
  #timer: NodeJS.Timeout | undefined;
  #spinner: Ora | null = null;
  #stopped = false;
  #next = 0;
  #nextDetail = 0;
  #text = '';

  constructor(context: CommandContext, title: string, { lineEveryMs = LINE_EVERY_MS }: ProgressOptions = {}) {
    this.#title = title;
    this.#log = logOf(context);
    this.#lineEveryMs = lineEveryMs;
    const how = context.options.progress ?? 'auto';
    this.#silent = !this.#log.shows('info');
    this.#mute = this.#silent || how === 'none';
    const written = how === 'lines' || this.#log.options.format !== 'text';
    this.#terminal = !written && (how === 'bar' ? isTerminal(context.io) : isLiveTerminal(context.io));
    if (this.#mute) return;
    if (this.#terminal) void this.#spin(context.io);
    else this.#next = Date.now() + this.#lineEveryMs;
  }

  /** Asks for the text by itself from now on, for work of which no news may come for a long time. */
  watch(text: () => string): void {
    if (this.#mute || this.#stopped) return;
    const everyMs = this.#terminal ? WATCH_EVERY_MS : this.#lineEveryMs;
    this.#timer = setInterval(() => this.update(text), everyMs);
    this.#timer.unref();
  }

  /** @param text What has been reached: `12 of 45 tasks`. A function is only called when its text is shown. */
  update(text: string | (() => string)): void {
    if (this.#mute || this.#stopped) return;
    const now = Date.now();
    if (now < this.#next) return;
    this.#next = now + this.#everyMs;
    this.#show(typeof text === 'string' ? text : text());
  }

  /** As `update`, of what goes on between two of them: a detail never keeps the next one of those from being shown. */
  detail(text: string): void {
    if (this.#mute || this.#stopped) return;
    const now = Date.now();
    if (now < Math.max(this.#next, this.#nextDetail)) return;
    this.#nextDetail = now + this.#everyMs;
    this.#show(text);
  }

  get #everyMs(): number {
    return this.#terminal ? TEXT_EVERY_MS : this.#lineEveryMs;
  }

  #show(text: string): void {
    this.#text = text;
    if (!this.#terminal) this.#log.info(`${this.#title}: ${this.#text}`);
    else if (this.#spinner) this.#spinner.text = this.#whole();
  }

  /** The last word, always shown unless `--quiet`. */
  done(text: string): void {
    this.stop();
    if (!this.#silent) this.#log.info(`${this.#title}: ${text}`);
  }

  /** Takes the spinner away. Doing it twice changes nothing. */
  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#spinner?.stop();
    this.#spinner = null;
  }

  async #spin(io: Io): Promise<void> {
    const { default: ora } = await import('ora');
    if (this.#stopped) return;
    const stream = io.stderr as NodeJS.WriteStream;
    this.#spinner = ora({ text: this.#whole(), stream, discardStdin: false }).start();
  }

  #whole(): string {
    return this.#text === '' ? this.#title : `${this.#title}: ${this.#text}`;
  }
}

/** True where a line can be written over: a terminal that is not a dumb one and has a width. */
function isTerminal(io: Io): boolean {
  const { isTTY, columns } = io.stderr as NodeJS.WriteStream;
  return isTTY === true && columns > 0 && io.env.TERM !== 'dumb';
}

/** The same, and nobody's build log. */
function isLiveTerminal(io: Io): boolean {
  return isTerminal(io) && !io.env.CI;
}
