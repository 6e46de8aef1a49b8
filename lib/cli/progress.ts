import type { Ora } from 'ora';
import { type Log, logOf } from './log.ts';
import type { CommandContext, Io } from './spec.ts';

/** Without a terminal, a line is written at most this often. */
const LINE_EVERY_MS = 5000;
/** With one, the text changes at most this often. */
const TEXT_EVERY_MS = 100;

/**
 * What a command is at: a spinner where stderr is a terminal, else a log line every few seconds; nothing with `--quiet`.
 * `update` is cheap enough to be called for every record.
 */
export class Progress {
  readonly #title: string;
  readonly #log: Log;
  readonly #silent: boolean;
  readonly #terminal: boolean;
  #spinner: Ora | null = null;
  #stopped = false;
  #next = 0;
  #text = '';

  constructor(context: CommandContext, title: string) {
    this.#title = title;
    this.#log = logOf(context);
    this.#silent = !this.#log.shows('info');
    this.#terminal = this.#log.options.format === 'text' && isLiveTerminal(context.io);
    if (this.#silent) return;
    if (this.#terminal) void this.#spin(context.io);
    else this.#next = Date.now() + LINE_EVERY_MS;
  }

  /** @param text What has been reached: `12 of 45 tasks`. A function is only called when its text is shown. */
  update(text: string | (() => string)): void {
    if (this.#silent || this.#stopped) return;
    const now = Date.now();
    if (now < this.#next) return;
    this.#next = now + (this.#terminal ? TEXT_EVERY_MS : LINE_EVERY_MS);
    this.#text = typeof text === 'string' ? text : text();
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

/** True where a line can be written over: a terminal that is not a dumb one and has a width, and no CI. */
function isLiveTerminal(io: Io): boolean {
  const { TERM, CI } = io.env;
  const { isTTY, columns } = io.stderr as NodeJS.WriteStream;
  return isTTY === true && columns > 0 && TERM !== 'dumb' && !CI;
}
