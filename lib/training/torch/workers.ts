import { delimiter, dirname, join } from 'node:path';
import type { ResultPromise } from 'execa';
import ndjson from 'ndjson';
import { libraryPaths } from '../../../native/index.ts';
import { DartError } from '../../errors.ts';
import { tied } from '../../stream/spawn_tied.ts';
import { ringAfter } from '../../stream/timer.ts';
import { failureOf, type LauncherEnd, sampleError } from './failure.ts';
import { lineSchema, type RankFault } from './messages.ts';
import type { LaunchSettings } from './settings.ts';

export interface WorkersLog {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
}

export interface WorkersPlace {
  env: Readonly<Record<string, string | undefined>>;
  /** Takes what launcher and ranks say on stderr. */
  log: WorkersLog;
  /** For the launcher's files; a folder that is there. */
  scratch: string;
}

export interface AskOptions {
  /** How long the answer may take; without it for ever: a step of many micro-batches takes what it takes. */
  timeoutMs?: number;
  /** Ends the waiting, and the job with it. */
  signal?: AbortSignal;
  onProgress?: (done: number, of: number) => void;
}

interface Waiting extends AskOptions {
  id: number;
  doing: string;
  resolve(ok: unknown): void;
  reject(error: unknown): void;
}

/** From the first sign of a failure until the launcher has ended, and for ending in good order. */
const END_MS = 20_000;
/** torchrun gives its ranks 30 s to heed SIGTERM before it kills them. */
const KILL_MS = 35_000;
const LAST_LINES = 60;

/**
 * The ranks of the torch engine: `torchrun` in a process group of its own, so that Ctrl-C does not reach it before the
 * version is published, spoken to in NDJSON by way of rank 0. A job that has failed stays so: every request is answered
 * with its failure.
 */
export class Workers {
  readonly #child: ResultPromise;
  readonly #log: WorkersLog;
  readonly #ended: Promise<void>;
  readonly #lines: string[] = [];
  readonly #ranks = new Map<number, string[]>();
  #waiting: Waiting | null = null;
  #fault: RankFault | null = null;
  #failure: unknown = null;
  #doing = 'start';
  #count = 0;
  #closing = false;
  #reporting = false;
  readonly #atExit = () => this.#signal('SIGTERM');

  private constructor(child: ResultPromise, log: WorkersLog) {
    this.#child = child;
    this.#log = log;
    process.once('exit', this.#atExit);
    const parser = ndjson.parse();
    parser.on('data', (message: unknown) => this.#hear(message));
    // A wrapper around Python may print a greeting. It is no answer, and it is told.
    parser.on('error', (error: Error) => log.warn(`torch engine: an answer that is not JSON: ${error.message}`));
    child.stdout?.on('data', (chunk: Buffer) => parser.write(chunk));
    // A write to what has just ended fails too; its end says why.
    child.stdin?.on('error', () => {});
    this.#ended = Promise.all([child, this.#read()]).then(([end]) => this.#end(end));
  }

  static async start(settings: LaunchSettings, place: WorkersPlace): Promise<Workers> {
    const { execa } = await import('execa');
    const [file, ...args] = (await tied(launcher(settings, place.scratch))) as [string, ...string[]];
    const child = execa(file, args, {
      ...{ detached: true, cleanup: false, reject: false, buffer: false, extendEnv: false },
      ...{ stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
      env: environment(settings, place.env) as Record<string, string>,
    });
    return new Workers(child as ResultPromise, place.log);
  }

  /**
   * One request, and what rank 0 answers with `ok`. One at a time.
   * @throws DartError naming the sample, after which the next request may come, or the rank that ended the job.
   */
  async ask(request: { do: string } & Record<string, unknown>, options: AskOptions = {}): Promise<unknown> {
    if (this.#failure !== null) throw this.#failure;
    if (this.#waiting) throw new Error(`${request.do} was asked while ${this.#doing} is under way`);
    this.#count += 1;
    this.#doing = request.do;
    const id = this.#count;
    const answer = new Promise((resolve, reject) => {
      this.#waiting = { ...options, id, doing: request.do, resolve, reject };
    });
    const { timeoutMs, signal } = options;
    const give = () => this.#giveUp(signal?.reason);
    const timer = timeoutMs && ringAfter(timeoutMs, () => this.#giveUp(this.#late(timeoutMs)));
    signal?.addEventListener('abort', give, { once: true });
    if (signal?.aborted) give();
    else this.#child.stdin?.write(`${JSON.stringify({ id, ...request })}\n`);
    try {
      return await answer;
    } finally {
      if (timer) timer.stop();
      signal?.removeEventListener('abort', give);
      this.#waiting = null;
    }
  }

  /** Ends the ranks: in good order where they still answer, else by signals. Never throws. */
  async close(): Promise<void> {
    const well = this.#failure === null && this.#fault === null;
    this.#closing = true;
    if (well) this.#child.stdin?.end(`${JSON.stringify({ id: this.#count + 1, do: 'close' })}\n`);
    await this.#endWithin(well ? END_MS : 0);
    process.removeListener('exit', this.#atExit);
  }

  #hear(message: unknown): void {
    const parsed = lineSchema.safeParse(message);
    if (!parsed.success) {
      this.#log.warn(`torch engine: not an answer: ${JSON.stringify(message).slice(0, 200)}`);
    } else if ('event' in parsed.data) {
      this.#waiting?.onProgress?.(Number(parsed.data.done), Number(parsed.data.of));
    } else {
      this.#answer(parsed.data);
    }
  }

  #answer({ id, ok, error }: { id: number | null; ok?: unknown; error?: RankFault }): void {
    if (error && error.kind !== 'sample') {
      this.#fault = error;
      // The launcher reports which rank it was. Its end is waited for, but not for ever.
      void this.#endWithin(END_MS);
    } else if (this.#waiting && id === this.#waiting.id) {
      if (error) this.#waiting.reject(sampleError(error));
      else this.#waiting.resolve(ok);
    }
  }

  async #read(): Promise<void> {
    for await (const line of this.#child.iterable({ from: 'stderr' })) this.#say(String(line));
  }

  /** A line of stderr: of a rank, which the launcher marks, or of the launcher itself. */
  #say(line: string): void {
    const marked = /^\[(?:rank|default)(\d+)\]:(.*)$/.exec(line);
    const rank = marked ? Number(marked[1]) : null;
    // A rank that says which one it is need not be named twice.
    const text = (marked?.[2] ?? line).replace(`rank ${rank}: `, '').trimEnd();
    const kept = rank === null ? this.#lines : (this.#ranks.get(rank) ?? []);
    if (rank !== null) this.#ranks.set(rank, kept);
    kept.push(text);
    if (kept.length > LAST_LINES) kept.shift();
    if (text.trim() === '') return;
    if (rank === null && REPORT.test(text)) this.#reporting = true;
    const shown = `${rank === null ? 'torchrun' : `rank ${rank}`}: ${text}`;
    // Of the launcher's long report what matters is in the message of the failure.
    if (rank === null && this.#reporting) this.#log.debug(shown);
    else if (WORTH_A_WARNING.test(text)) this.#log.warn(shown);
    else this.#log.info(shown);
  }

  #end({ exitCode, signal, code, originalMessage }: LaunchResult): void {
    const end: LauncherEnd = {
      exitCode: exitCode ?? null,
      signal: signal ?? null,
      reason: code === 'ENOENT' || code === 'EACCES' ? (originalMessage ?? code) : null,
      lines: this.#lines,
      ranks: this.#ranks,
    };
    this.#failure ??= this.#closing ? new Error('the ranks are closed') : failureOf(this.#doing, this.#fault, end);
    this.#waiting?.reject(this.#failure);
  }

  #late(timeoutMs: number): DartError {
    return new DartError(`no answer within ${timeoutMs / 1000} s`, {
      where: `torch engine, ${this.#doing}`,
      hint: 'a longer --start-timeout where the checkpoint lies on a slow disk; --log-level debug shows what Python says',
    });
  }

  #giveUp(reason: unknown): void {
    this.#failure ??= reason;
    this.#waiting?.reject(this.#failure);
    void this.#endWithin(0);
  }

  /** Waits for the end, and after that time brings it about. */
  async #endWithin(ms: number): Promise<void> {
    if (await within(this.#ended, ms)) return;
    this.#signal('SIGTERM');
    if (await within(this.#ended, KILL_MS)) return;
    this.#signal('SIGKILL');
    await this.#ended;
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal);
    } catch {
      // It has ended, and all of its group.
    }
  }
}

type LaunchResult = { exitCode?: number; signal?: string; code?: string; originalMessage?: string };

/** With these words the launcher begins to report that a rank has failed, or its own end. */
const REPORT = /Sending process \d+|failed \(exitcode|^Traceback|Root Cause|^=+$/;
const WORTH_A_WARNING = /warning|error|exception|traceback|fail/i;

/** Whether it is over within the time. */
async function within(over: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  return Promise.race([over.then(() => true), late]).finally(() => clearTimeout(timer));
}

/**
 * The words of torchrun. On one machine it finds a free port itself; on several this is the first (node rank 0), where
 * rank 0 is, which speaks with us. Each rank's stderr is read by the launcher, which marks its lines.
 */
export function launcher(settings: LaunchSettings, scratch: string): string[] {
  const { python, nproc, nnodes, rendezvous } = settings;
  const together =
    nnodes === 1
      ? ['--standalone']
      : ['--nnodes', String(nnodes), '--node-rank', '0', '--rdzv-backend', 'static', '--rdzv-endpoint', rendezvous!];
  return [
    ...[python, '-m', 'torch.distributed.run', ...together, '--nproc-per-node', nproc, '--max-restarts', '0'],
    ...['--tee', '2', '--log-dir', join(scratch, 'log'), '-m', 'dart_torch'],
  ];
}

function environment(settings: LaunchSettings, env: WorkersPlace['env']): Record<string, string | undefined> {
  const given = env.PYTHONPATH ? [env.PYTHONPATH] : [];
  return {
    // Checkpoints are folders: nothing is ever fetched.
    HF_HUB_OFFLINE: '1',
    TOKENIZERS_PARALLELISM: 'false',
    ...env,
    PYTHONPATH: [pythonFolder(), ...given].join(delimiter),
    OMP_NUM_THREADS: env.OMP_NUM_THREADS ?? String(settings.threads),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: torchrun fills it in.
    TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE: '[rank${rank}]:',
  };
}

/** `native/torch` of the checkout or of the installed package. */
export function pythonFolder(): string {
  return join(dirname(libraryPaths().cpu), '..', '..', 'torch');
}
