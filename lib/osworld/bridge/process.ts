import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { DartError, messageOf } from '../../errors.ts';

/** A line that the process answers with. */
interface Answer {
  id?: number;
  ready?: boolean;
  value?: unknown;
  error?: string;
  kind?: string;
}

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** How much of what it prints to standard error is kept for messages, characters. */
const KEPT_ERROR = 2000;

/** A program that answers one line of JSON to each line of JSON. Its first line says that it is ready. */
export class LineProcess {
  private readonly child: ChildProcess;
  private readonly where: string;
  private readonly waiting = new Map<number, Waiting>();
  private readonly ended: Promise<void>;
  private failure: DartError | null = null;
  private printed = '';
  private count = 0;

  constructor(command: string, args: string[], where: string) {
    this.where = where;
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.printed = (this.printed + text).slice(-KEPT_ERROR);
    });
    // A write to a process that has just ended fails too; its end says why.
    this.child.stdin!.on('error', () => {});
    createInterface({ input: this.child.stdout! }).on('line', (line) => this.hear(line));
    this.ended = new Promise((resolve) => {
      this.child.on('error', (cause) => this.fail(`${command} does not start: ${messageOf(cause)}`, cause));
      this.child.on('close', (code, signal) => {
        this.fail(`it ended (${signal ?? `exit ${code}`}): ${this.printed.trim().split('\n').at(-1) ?? ''}`);
        resolve();
      });
    });
  }

  /** Resolves with the first line. Rejects with a DartError where the process ends before that. */
  ready(): Promise<Answer> {
    return this.wait(0);
  }

  /** Asks and waits; after `limitMs` the process is killed, and everything that waits fails. */
  async ask(request: object, limitMs: number): Promise<Answer> {
    this.count += 1;
    const id = this.count;
    const answer = this.wait(id);
    this.child.stdin!.write(`${JSON.stringify({ id, ...request })}\n`);
    const timer = setTimeout(() => {
      this.fail(`no answer in ${limitMs / 1000} s`);
      this.child.kill('SIGKILL');
    }, limitMs);
    return answer.finally(() => clearTimeout(timer));
  }

  async close(): Promise<void> {
    this.child.stdin!.end();
    this.child.kill('SIGTERM');
    await this.ended;
  }

  private wait(id: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.failure === null) this.waiting.set(id, { resolve, reject });
      else reject(this.failure);
    });
  }

  private hear(line: string): void {
    let answer: Answer;
    try {
      answer = JSON.parse(line);
    } catch {
      this.fail(`it answered what is no JSON: ${line.slice(0, 80)}`);
      return;
    }
    const id = answer.id ?? 0;
    this.waiting.get(id)?.resolve(answer);
    this.waiting.delete(id);
  }

  private fail(what: string, cause?: unknown): void {
    this.failure ??= new DartError(`the Python bridge: ${what}`, { where: this.where, cause });
    for (const { reject } of this.waiting.values()) reject(this.failure);
    this.waiting.clear();
  }
}
