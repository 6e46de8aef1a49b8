import type Docker from 'dockerode';

/** One line of what Docker reports of a build, a pull or an import. */
export interface DockerEvent {
  stream?: string;
  status?: string;
  error?: string;
  aux?: { ID?: string };
}

/** Reads to the end what Docker reports. @throws Error with Docker's words where it failed. */
export function follow(
  docker: Docker,
  stream: NodeJS.ReadableStream,
  onEvent: (event: DockerEvent) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    docker.modem.followProgress(
      stream,
      (error: Error | null, events: DockerEvent[] = []) => {
        const failed = error ?? events.find((event) => event.error)?.error;
        if (failed) reject(failed instanceof Error ? failed : new Error(failed));
        else resolve();
      },
      onEvent,
    );
  });
}

const TAIL_LINES = 12;

/** Where a build is, from the lines that it writes: `step 4 of 20, 120 packages unpacked, 8 installed`. */
export class BuildProgress {
  #step = 'begins';
  #unpacked = 0;
  #installed = 0;
  readonly #last: string[] = [];

  /** @param text A piece of output, of any length. */
  read(text: string): void {
    for (const line of text.split('\n').map(plain)) {
      if (line === '' || line.startsWith('---> ')) continue;
      const [, step, steps] = /^Step (\d+)\/(\d+) :/.exec(line) ?? [];
      if (step) {
        this.#step = `step ${step} of ${steps}`;
        this.#unpacked = 0;
        this.#installed = 0;
        this.#last.length = 0;
      } else if (/^Unpacking /.test(line)) {
        this.#unpacked += 1;
      } else if (/^Setting up /.test(line)) {
        this.#installed += 1;
      }
      this.#last.push(line);
      if (this.#last.length > TAIL_LINES) this.#last.shift();
    }
  }

  get text(): string {
    if (this.#unpacked === 0) return this.#step;
    return `${this.#step}, ${this.#unpacked} packages unpacked, ${this.#installed} installed`;
  }

  /** The last lines of the step, for when it fails. */
  get tail(): string {
    return this.#last.join('\n');
  }
}

/** A line without colours and blanks around it. */
function plain(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
  return line.replaceAll(/\x1b\[[0-9;]*m/g, '').trim();
}
