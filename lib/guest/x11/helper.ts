import type { ChildProcess } from 'node:child_process';
import { DartError } from '../../errors.ts';

/** How long a request may take where nothing else is said, ms. */
const LIMIT_MS = 30_000;
const MAX_COMPLAINT = 2000;

interface Waiting {
  resolve(reply: unknown): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

/**
 * A Python program of `dart_x11` that stays: requests and replies are JSON lines, and behind a reply as many bytes as it
 * announces. It is started when it is first needed, and anew after it ended or did not answer in time.
 */
export class Helper {
  readonly #where: string;
  readonly #spawn: () => ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  #process: ChildProcess | null = null;
  #serial = 0;
  #closed = false;

  constructor(where: string, spawn: () => ChildProcess) {
    this.#where = where;
    this.#spawn = spawn;
  }

  /** A reply's value, or its bytes as a Buffer. Rejects where the helper refuses, ends, or takes longer than `limitMs`. */
  request(op: string, fields: Record<string, unknown> = {}, limitMs = LIMIT_MS): Promise<unknown> {
    if (this.#closed) return Promise.reject(this.#error('the desktop is closed'));
    this.#process ??= this.#start();
    const helper = this.#process;
    const id = ++this.#serial;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#end(helper, this.#error(`${op} got no answer within ${limitMs / 1000} s`));
      }, limitMs);
      this.#waiting.set(id, { resolve, reject, timer });
      helper.stdin!.write(`${JSON.stringify({ id, op, ...fields })}\n`);
    });
  }

  /** Ends it; a later request is refused. */
  close(): void {
    this.#closed = true;
    if (this.#process) this.#end(this.#process, this.#error('the desktop is closed'));
  }

  #start(): ChildProcess {
    const helper = this.#spawn();
    let complaint = '';
    helper.stderr?.on('data', (data: Buffer) => {
      complaint = (complaint + data.toString()).slice(-MAX_COMPLAINT);
    });
    // A request to one that has just ended: its exit says it.
    helper.stdin!.on('error', () => {});
    const replies = new ReplyReader((header, bytes) => this.#settle(header, bytes));
    helper.stdout!.on('data', (data: Buffer) => replies.push(data));
    helper.once('error', (cause) => this.#end(helper, this.#error(`a helper does not start: ${cause.message}`)));
    helper.once('close', () => this.#end(helper, this.#error(`a helper of the desktop ended: ${lastLine(complaint)}`)));
    return helper;
  }

  #settle(header: Record<string, unknown>, bytes: Buffer | null): void {
    const waiting = this.#waiting.get(header.id as number);
    if (!waiting) return;
    this.#waiting.delete(header.id as number);
    clearTimeout(waiting.timer);
    if (typeof header.error === 'string') waiting.reject(this.#error(header.error));
    else waiting.resolve(bytes ?? header.value);
  }

  /** All who wait for it hear of its end. */
  #end(helper: ChildProcess, error: Error): void {
    if (this.#process !== helper) return;
    this.#process = null;
    helper.kill('SIGKILL');
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
  }

  #error(message: string): DartError {
    return new DartError(message, { where: this.#where });
  }
}

/** Takes a stream apart into replies. */
export class ReplyReader {
  readonly #reply: (header: Record<string, unknown>, bytes: Buffer | null) => void;
  #line: Buffer[] = [];
  #header: Record<string, unknown> = {};
  #bytes: Buffer | null = null;
  #filled = 0;

  constructor(reply: (header: Record<string, unknown>, bytes: Buffer | null) => void) {
    this.#reply = reply;
  }

  push(data: Buffer): void {
    let rest = data;
    while (rest.length > 0) rest = this.#bytes ? this.#fill(this.#bytes, rest) : this.#read(rest);
  }

  #fill(bytes: Buffer, data: Buffer): Buffer {
    const taken = data.copy(bytes, this.#filled);
    this.#filled += taken;
    if (this.#filled === bytes.length) {
      this.#bytes = null;
      this.#reply(this.#header, bytes);
    }
    return data.subarray(taken);
  }

  #read(data: Buffer): Buffer {
    const end = data.indexOf(10);
    if (end < 0) {
      this.#line.push(data);
      return data.subarray(data.length);
    }
    const line = Buffer.concat([...this.#line, data.subarray(0, end)]);
    this.#line = [];
    this.#header = JSON.parse(line.toString('utf8')) as Record<string, unknown>;
    const size = this.#header.bytes;
    if (typeof size === 'number' && size > 0) {
      this.#bytes = Buffer.allocUnsafeSlow(size);
      this.#filled = 0;
    } else this.#reply(this.#header, null);
    return data.subarray(end + 1);
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'it says nothing';
}
