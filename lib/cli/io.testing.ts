import { PassThrough, Readable } from 'node:stream';
import type { Io } from './spec.ts';

export interface TestIo extends Io {
  /** What the command has written so far. */
  out(): string;
  err(): string;
  /** The records of stdout. */
  records(): { type: string; [field: string]: unknown }[];
}

/** Streams for a command that runs inside a test. `stdin` is text; `env` starts empty. */
export function testIo(parts: Partial<Omit<Io, 'stdin'>> & { stdin?: string | Readable } = {}): TestIo {
  const { stdin, ...rest } = parts;
  const out = collector();
  const err = collector();
  return {
    stdin: stdin instanceof Readable ? stdin : Readable.from(stdin === undefined ? [] : [Buffer.from(stdin)]),
    stdout: out.stream,
    stderr: err.stream,
    // A folder without config file, whoever runs the test.
    env: { XDG_CONFIG_HOME: '/nonexistent' },
    cwd: process.cwd(),
    signal: new AbortController().signal,
    ...rest,
    out: out.text,
    err: err.text,
    records: () =>
      out
        .text()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
  };
}

function collector() {
  const stream = new PassThrough();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
